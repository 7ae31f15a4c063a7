-- For the manual: code number :at of the diagnoses, from 0, in the order in which clear doctor prints the sections.
SELECT replace(substr(code, 1, instr(code, '-')), '-', ' ') || substr(code, instr(code, '-') + 1), severity, title
FROM advice
ORDER BY code NOT GLOB 'saturation-*', substr(code, 1, instr(code, '-')), rowid
LIMIT 1 OFFSET :at
