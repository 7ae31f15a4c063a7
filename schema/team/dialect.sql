-- What the views of a file mean by their functions, operators and aggregates, in PostgreSQL: schema/team_dialect.awk has the rest. The names
-- are those of SQLite; the schema clear_views stands before pg_catalog in the search path of the views.

-- The project whose runs the views show: the session's setting clear.project, a number; without one no runs.
CREATE FUNCTION clear_views.project() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT nullif(current_setting('clear.project', true), '')::bigint $$;

-- Texts are compared by their bytes, whatever the database's collation is.
CREATE DOMAIN clear_views.bytewise AS text COLLATE "C";

-- ---- casts ----

CREATE FUNCTION clear_views.to_int(text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT coalesce(substring($1 from '^\s*([-+]?[0-9]+)')::bigint, 0) $$;
CREATE FUNCTION clear_views.to_int(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION clear_views.to_int(boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::integer::bigint $$;
CREATE FUNCTION clear_views.to_int(double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 >= 9223372036854775807 THEN 9223372036854775807 WHEN $1 <= -9223372036854775808 THEN -9223372036854775808
               ELSE trunc($1)::bigint END $$;
CREATE FUNCTION clear_views.to_int(numeric) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT trunc($1)::bigint $$;
CREATE FUNCTION clear_views.to_real(text) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT coalesce(substring($1 from '^\s*([-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)')::double precision, 0) $$;
CREATE FUNCTION clear_views.to_real(double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- ---- texts ----

CREATE FUNCTION clear_views.text_of(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION clear_views.text_of(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE FUNCTION clear_views.text_of(numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE FUNCTION clear_views.text_of(boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::integer::text $$;
-- 15 digits, and one behind the point at least.
CREATE FUNCTION clear_views.text_of(double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 = trunc($1) AND abs($1) < 1e15 THEN $1::bigint::text || '.0'
               WHEN abs($1) >= 1e15 OR abs($1) < 1e-4 THEN $1::text
               ELSE $1::numeric::text END $$;
CREATE FUNCTION clear_views.text_of_int(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT coalesce(clear_views.to_int($1)::text, '0') $$;
CREATE FUNCTION clear_views.text_of_int(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT coalesce($1::text, '0') $$;
CREATE FUNCTION clear_views.text_of_int(boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT coalesce($1::integer::text, '0') $$;
CREATE FUNCTION clear_views.text_of_int(double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT coalesce(clear_views.to_int($1)::text, '0') $$;
-- All digits that a real number has.
CREATE FUNCTION clear_views.text_of_real(double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 = trunc($1) AND abs($1) < 1e15 THEN $1::bigint::text || '.0' ELSE $1::text END $$;
CREATE FUNCTION clear_views.text_of_fixed(double precision, digits integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT round(coalesce($1, 0)::numeric, digits)::text $$;
-- To `width` characters at least, from the left, or with a width below 0 from the right.
CREATE FUNCTION clear_views.pad(text, width integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN length($1) >= abs(width) THEN $1 WHEN width < 0 THEN rpad($1, -width) ELSE lpad($1, width) END $$;
CREATE FUNCTION clear_views.instr(text, text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT pg_catalog.strpos($1, $2)::bigint $$;
CREATE FUNCTION clear_views.substr(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT pg_catalog.substr($1, $2::integer) $$;
CREATE FUNCTION clear_views.substr(text, bigint, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT pg_catalog.substr($1, $2::integer, greatest($3, 0)::integer) $$;
CREATE FUNCTION clear_views.chr(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT pg_catalog.chr($1::integer) $$;
-- A GLOB pattern as a regular expression.
CREATE FUNCTION clear_views.expression_of(pattern text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT '^' || replace(replace(regexp_replace(regexp_replace($1, '([.\\+(){}|$])', '\\\1', 'g'), '(?<!\[)\^', '\\^', 'g'), '*', '.*'),
                         '?', '.') || '$' $$;
CREATE FUNCTION clear_views.glob(text, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 OPERATOR(pg_catalog.~) clear_views.expression_of($2) $$;
CREATE FUNCTION clear_views.not_glob(text, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 OPERATOR(pg_catalog.!~) clear_views.expression_of($2) $$;
CREATE OPERATOR clear_views.@~ (LEFTARG = text, RIGHTARG = text, FUNCTION = clear_views.glob);
CREATE OPERATOR clear_views.!@~ (LEFTARG = text, RIGHTARG = text, FUNCTION = clear_views.not_glob);
CREATE FUNCTION clear_views.joined(text, double precision) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 || clear_views.text_of($2) $$;
CREATE FUNCTION clear_views.joined(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 || $2::text $$;
CREATE FUNCTION clear_views.joined(text, integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 || $2::text $$;
CREATE FUNCTION clear_views.joined(text, numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 || $2::text $$;
CREATE OPERATOR clear_views.|| (LEFTARG = text, RIGHTARG = double precision, FUNCTION = clear_views.joined);
CREATE OPERATOR clear_views.|| (LEFTARG = text, RIGHTARG = bigint, FUNCTION = clear_views.joined);
CREATE OPERATOR clear_views.|| (LEFTARG = text, RIGHTARG = integer, FUNCTION = clear_views.joined);
CREATE OPERATOR clear_views.|| (LEFTARG = text, RIGHTARG = numeric, FUNCTION = clear_views.joined);
-- 'YYYY-MM-DDTHH:MM:SSZ' is the one format that the views have.
CREATE FUNCTION clear_views.strftime(text, bigint, text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT to_char(to_timestamp($2) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') $$;

-- ---- numbers ----

CREATE FUNCTION clear_views.greatest_of(VARIADIC anycompatiblearray) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT max(item) FROM unnest($1) AS item) END $$;
CREATE FUNCTION clear_views.greatest_of(a anycompatible, b anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 >= $2 THEN $1 WHEN $2 > $1 THEN $2 END $$;
CREATE FUNCTION clear_views.least_of(VARIADIC anycompatiblearray) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT min(item) FROM unnest($1) AS item) END $$;
CREATE FUNCTION clear_views.least_of(a anycompatible, b anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 <= $2 THEN $1 WHEN $2 < $1 THEN $2 END $$;
-- A half is rounded away from zero; PostgreSQL's goes to the even number.
CREATE FUNCTION clear_views.round(double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT trunc($1 + 0.5 * sign($1)) $$;
CREATE FUNCTION clear_views.round(double precision, integer) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT pg_catalog.round($1::numeric, $2)::double precision $$;
-- Nothing is divided by zero: the result is NULL.
CREATE FUNCTION clear_views.divided(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 OPERATOR(pg_catalog./) nullif($2, 0) $$;
CREATE FUNCTION clear_views.divided(double precision, double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 OPERATOR(pg_catalog./) nullif($2, 0) $$;
CREATE OPERATOR clear_views./ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = clear_views.divided);
CREATE OPERATOR clear_views./ (LEFTARG = double precision, RIGHTARG = double precision, FUNCTION = clear_views.divided);
-- Of integers an integer, where PostgreSQL's is a decimal number, of which a division has a fraction.
CREATE AGGREGATE clear_views.sum(bigint) (SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);

-- What is true or false counts as 1 and 0: the greatest of some is true where one is, the sum is how many are.
CREATE AGGREGATE clear_views.max(boolean) (SFUNC = boolor_statefunc, STYPE = boolean, COMBINEFUNC = boolor_statefunc, PARALLEL = SAFE);
CREATE AGGREGATE clear_views.min(boolean) (SFUNC = booland_statefunc, STYPE = boolean, COMBINEFUNC = booland_statefunc, PARALLEL = SAFE);
CREATE FUNCTION clear_views.counted(bigint, boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2::integer END $$;
CREATE AGGREGATE clear_views.sum(boolean) (SFUNC = clear_views.counted, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
CREATE FUNCTION clear_views.added(boolean, boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT ($1::integer + $2::integer)::bigint $$;
CREATE OPERATOR clear_views.+ (LEFTARG = boolean, RIGHTARG = boolean, FUNCTION = clear_views.added);
CREATE FUNCTION clear_views.added(bigint, boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 + $2::integer $$;
CREATE OPERATOR clear_views.+ (LEFTARG = bigint, RIGHTARG = boolean, FUNCTION = clear_views.added);

-- ---- values of JSON: texts, which act as numbers where a number is ----

CREATE FUNCTION clear_views.json_each(text) RETURNS TABLE(key clear_views.bytewise, value clear_views.bytewise)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT key::clear_views.bytewise, value::clear_views.bytewise
   FROM json_each_text(CASE WHEN ltrim($1) LIKE '{%' THEN $1::json END)
   UNION ALL
   SELECT (place - 1)::text::clear_views.bytewise, value::clear_views.bytewise
   FROM json_array_elements_text(CASE WHEN ltrim($1) LIKE '[%' THEN $1::json END) WITH ORDINALITY AS item(value, place) $$;
CREATE FUNCTION clear_views.member(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1::json OPERATOR(pg_catalog.->>) $2 $$;
CREATE OPERATOR clear_views.->> (LEFTARG = text, RIGHTARG = text, FUNCTION = clear_views.member);
CREATE FUNCTION clear_views.equals(text, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 = $2::text $$;
CREATE FUNCTION clear_views.equals(bigint, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT $1 = $2::bigint $$;
CREATE OPERATOR clear_views.= (LEFTARG = text, RIGHTARG = bigint, FUNCTION = clear_views.equals);
CREATE OPERATOR clear_views.= (LEFTARG = bigint, RIGHTARG = text, FUNCTION = clear_views.equals);
CREATE FUNCTION clear_views.number_of(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::numeric $$;
CREATE OPERATOR clear_views.+ (RIGHTARG = text, FUNCTION = clear_views.number_of);
CREATE FUNCTION clear_views.added(text, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::bigint + $2 $$;
CREATE OPERATOR clear_views.+ (LEFTARG = text, RIGHTARG = bigint, FUNCTION = clear_views.added);
