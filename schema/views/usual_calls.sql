DROP VIEW IF EXISTS usual_calls;
CREATE VIEW usual_calls AS
-- Question: what is usually wrong where one line spends much of the CPU time in such a call?
-- Rows: one per kind of call that the diagnosis hot-call knows. Which functions are of a kind stands in schema/facts/call.sql.
-- Columns:
--   call [text]: the kind, as in call_facts
--   severity [text]: what hot-call is at most: warning where the call is hardly ever the work itself; note where it may be, or another diagnosis warns of it
--   text [text]: what it is, and what is usually done
WITH words(call, severity, text) AS (
    VALUES
        ('regex', 'warning', 'It compiles a regular expression. Compile it once: before the loop, or as a static.'),
        ('shared', 'warning', 'It counts references, atomically. Pass the pointer by reference, or what it points to.'),
        ('strlen', 'warning', 'It looks for the end of a text. Keep the length, or the end where the next part goes.'),
        ('timezone', 'warning', 'It looks whether the time zone changed, mostly by a system call. Keep the result for as long as it holds, or set TZ.'),
        ('getenv', 'warning', 'It searches the environment. Ask once, when the program begins.'),
        ('endl', 'note', 'It writes the buffer out. End lines with a newline character alone.'),
        ('stat', 'note', 'It asks the system for a file. If it is the same one again, keep the answer, or open it and handle the error.'),
        ('compare', 'note', 'It compares texts or memory. If that is a search from the start, a hash table, a tree or a sorted array compares less.'),
        ('power', 'note', 'It raises to a power. A small whole exponent is cheaper as a product.'),
        ('malloc', 'note', 'It allocates or frees. Keep blocks and use them again; the section heap says which.'),
        ('format', 'note', 'It formats a text. Write into one buffer, and format only what is shown.')
)
SELECT call, severity, text
FROM words;
