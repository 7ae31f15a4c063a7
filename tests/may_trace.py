"""may_trace.py: 0 where a process may trace another one of its user here."""
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    time.sleep(60)
SEIZE = 0x4206
code = libc.ptrace(SEIZE, child, None, None)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
sys.exit(code != 0)
