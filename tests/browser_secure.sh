# The application in a browser where every request needs the token, and where the server speaks TLS.
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
command -v openssl >/dev/null || { echo "skipped: no openssl"; exit 0; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>/dev/null ||
    fail "making a certificate"
python3 "$ROOT/tests/browser_secure.py" || fail "the browser with a token, and by TLS"
