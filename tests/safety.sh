# The program cannot tell that it is recorded: errno, EINTR, signal masks, handlers, descriptors, output and status stay its own.
. "$(dirname "$0")/lib.sh"

same_as_without "$FIXTURES/errno_check"
[ "$(grep -c ' 4242$' alone.out)" -gt 100 ] || fail 'errno_check proved nothing'
same_as_without "$FIXTURES/signals" eintr
same_as_without "$FIXTURES/signals" mask
same_as_without "$FIXTURES/closes_fds"
for mode in return exit _exit thread abort segv overflow kill term; do same_as_without "$FIXTURES/exits" "$mode"; done
# Descriptors: a program sees those it would see without.
same_as_without bash -c 'exec 9<&-; ls -l /proc/self/fd | wc -l'
same_as_without env -i PATH="$PATH" sh -c 'echo "$HOME $0"; exit 3'
