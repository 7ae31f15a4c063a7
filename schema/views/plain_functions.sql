DROP VIEW IF EXISTS plain_functions;
CREATE VIEW plain_functions AS
-- Question: what is a function called in the source, without what GCC and LLVM append to the copies that they make of it?
-- Rows: one per function. Two rows may have one name.
-- Columns:
--   function_id [id]: the function
--   name [text]: demangled name; parse.isra.0, parse.part.1.cold and parse [clone .lto_priv.0] are parse
SELECT
    id AS function_id,
    CASE WHEN NOT glob('?*.[cilp]*', name) THEN name
         ELSE substr(name, 1, min(CASE WHEN glob('?*.isra.[0-9]*', name) THEN instr(name, '.isra.') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?*.constprop.[0-9]*', name) THEN instr(name, '.constprop.') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?*.part.[0-9]*', name) THEN instr(name, '.part.') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?*.cold', name) OR glob('?*.cold.*', name) THEN instr(name, '.cold') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?*.lto_priv.[0-9]*', name) THEN instr(name, '.lto_priv.') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?*.llvm.[0-9]*', name) THEN instr(name, '.llvm.') ELSE length(name) + 1 END,
                                  CASE WHEN glob('?* [[]clone *', name) THEN instr(name, ' [clone ') ELSE length(name) + 1 END) - 1) END AS name
FROM functions;
