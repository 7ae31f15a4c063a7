"""The pairs of tests/faults.list, four runs of each program."""
from common import *

heading("Programs with one fault",
        "Each program in fixtures/ does a small piece of work and has one well-known fault; its twin does the same work without it. In all runs the "
        "fault must be doctor's first finding, and worth a warning; of the twin nothing critical may be said, at most one warning, and not this one. "
        "A wrong row says what was found instead.")
sys.stdout.flush()
status = subprocess.run(["python3", os.path.join(ROOT, "tests", "faults.py"), "faults.db", "4", *sys.argv[1:]]).returncode
print()
sys.exit(status)
