-- What PostgreSQL has not of what the views of a file call, or means otherwise. The names are those of SQLite; the schema clear_views stands
-- before pg_catalog in the search path of the views. schema/team_dialect.awk has what no function can be.

-- The project whose runs the views show: the session's setting clear.project, a number; without one no runs.
CREATE FUNCTION clear_views.project() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT nullif(current_setting('clear.project', true), '')::bigint $$;

-- Texts are compared by their bytes, whatever the database's collation is.
CREATE DOMAIN clear_views.bytewise AS text COLLATE "C";

-- ---- texts ----

-- The formats are %x and %016x alone.
CREATE FUNCTION clear_views.printf(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT replace(replace($1, '%016x', lpad(to_hex($2), 16, '0')), '%x', to_hex($2)) $$;
CREATE FUNCTION clear_views.instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT strpos($1, $2) $$;
-- The pattern as a regular expression.
CREATE FUNCTION clear_views.expression_of(pattern text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT '^' || replace(replace(regexp_replace(regexp_replace($1, '([.\\+(){}|$])', '\\\1', 'g'), '(?<!\[)\^', '\\^', 'g'), '*', '.*'),
                         '?', '.') || '$' $$;
CREATE FUNCTION clear_views.glob(pattern text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $2 OPERATOR(pg_catalog.~) clear_views.expression_of($1) $$;
-- 'YYYY-MM-DDTHH:MM:SSZ' is the one format that the views have.
CREATE FUNCTION clear_views.strftime(text, bigint, text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT to_char(to_timestamp($2) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') $$;
CREATE FUNCTION clear_views.joined(text, text, separator text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 IS NULL THEN $2 WHEN $2 IS NULL THEN $1 ELSE $1 || $3 || $2 END $$;
CREATE FUNCTION clear_views.joined(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT clear_views.joined($1, $2, ',') $$;
CREATE FUNCTION clear_views.joined(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT clear_views.joined($1, $2::text, ',') $$;
CREATE AGGREGATE clear_views.group_concat(text) (SFUNC = clear_views.joined, STYPE = text);
CREATE AGGREGATE clear_views.group_concat(bigint) (SFUNC = clear_views.joined, STYPE = text);
CREATE AGGREGATE clear_views.group_concat(text, separator text) (SFUNC = clear_views.joined, STYPE = text);

-- ---- numbers ----

-- Of two or more values; NULL if one is NULL, where greatest() passes over it.
CREATE FUNCTION clear_views.max(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 >= $2 THEN $1 WHEN $2 > $1 THEN $2 END $$;
CREATE FUNCTION clear_views.min(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 <= $2 THEN $1 WHEN $2 < $1 THEN $2 END $$;
CREATE FUNCTION clear_views.min(anycompatible, anycompatible, VARIADIC anycompatiblearray) RETURNS anycompatible
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN num_nulls($1, $2) + num_nulls(VARIADIC $3) = 0 THEN (SELECT min(item) FROM unnest($1 || ($2 || $3)) AS item) END $$;
-- A half is rounded away from zero; PostgreSQL's goes to the even number.
CREATE FUNCTION clear_views.round(double precision, integer = 0) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT pg_catalog.round($1::numeric, $2)::double precision $$;
-- Of integers an integer, where PostgreSQL's is a decimal number, of which a division has a fraction.
CREATE AGGREGATE clear_views.sum(bigint) (SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
-- What is true or false counts as 1 and 0: the greatest of some is true where one is, the sum is how many are.
CREATE AGGREGATE clear_views.max(boolean) (SFUNC = boolor_statefunc, STYPE = boolean, COMBINEFUNC = boolor_statefunc, PARALLEL = SAFE);
CREATE AGGREGATE clear_views.min(boolean) (SFUNC = booland_statefunc, STYPE = boolean, COMBINEFUNC = booland_statefunc, PARALLEL = SAFE);
CREATE FUNCTION clear_views.counted(bigint, boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2::integer END $$;
CREATE AGGREGATE clear_views.sum(boolean) (SFUNC = clear_views.counted, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);

-- ---- values of JSON: texts, which act as numbers where a number is ----

CREATE FUNCTION clear_views.json_each(json) RETURNS TABLE(key clear_views.bytewise, value clear_views.bytewise)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT key::clear_views.bytewise, value::clear_views.bytewise
   FROM json_each_text(CASE json_typeof($1) WHEN 'object' THEN $1 END)
   UNION ALL
   SELECT (place - 1)::text::clear_views.bytewise, value::clear_views.bytewise
   FROM json_array_elements_text(CASE json_typeof($1) WHEN 'array' THEN $1 END) WITH ORDINALITY AS item(value, place) $$;
CREATE FUNCTION clear_views.json_each(text) RETURNS TABLE(key clear_views.bytewise, value clear_views.bytewise)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT key, value FROM clear_views.json_each($1::json) $$;
CREATE FUNCTION clear_views.member(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1::json OPERATOR(pg_catalog.->>) $2 $$;
CREATE OPERATOR clear_views.->> (LEFTARG = text, RIGHTARG = text, FUNCTION = clear_views.member);
CREATE FUNCTION clear_views.member(text, integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1::json OPERATOR(pg_catalog.->>) $2 $$;
CREATE OPERATOR clear_views.->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = clear_views.member);
CREATE FUNCTION clear_views.equals(text, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 = $2::text $$;
CREATE FUNCTION clear_views.equals(bigint, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 = $2::bigint $$;
CREATE OPERATOR clear_views.= (LEFTARG = text, RIGHTARG = bigint, FUNCTION = clear_views.equals);
CREATE OPERATOR clear_views.= (LEFTARG = bigint, RIGHTARG = text, FUNCTION = clear_views.equals);
CREATE FUNCTION clear_views.number_of(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::numeric $$;
CREATE OPERATOR clear_views.+ (RIGHTARG = text, FUNCTION = clear_views.number_of);
