DROP VIEW IF EXISTS plain_functions;
CREATE VIEW plain_functions AS
-- Question: what is a function called in the source, without what GCC and LLVM append to the copies that they make of it?
-- Rows: one per function. Two rows may have one name.
-- Columns:
--   function_id [id]: the function
--   name [text]: demangled name; parse.isra.0, parse.part.1.cold and parse [clone .lto_priv.0] are parse
SELECT
    id AS function_id,
    CASE WHEN name NOT GLOB '?*.[cilp]*' THEN name
         ELSE substr(name, 1, min(iif(name GLOB '?*.isra.[0-9]*', instr(name, '.isra.'), length(name) + 1),
                                  iif(name GLOB '?*.constprop.[0-9]*', instr(name, '.constprop.'), length(name) + 1),
                                  iif(name GLOB '?*.part.[0-9]*', instr(name, '.part.'), length(name) + 1),
                                  iif(name GLOB '?*.cold' OR name GLOB '?*.cold.*', instr(name, '.cold'), length(name) + 1),
                                  iif(name GLOB '?*.lto_priv.[0-9]*', instr(name, '.lto_priv.'), length(name) + 1),
                                  iif(name GLOB '?*.llvm.[0-9]*', instr(name, '.llvm.'), length(name) + 1),
                                  iif(name GLOB '?* [[]clone *', instr(name, ' [clone '), length(name) + 1)) - 1) END AS name
FROM functions;
