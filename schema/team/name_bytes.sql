-- The bytes that the key of a name is the SHA-256 of, as ingest/team/content_key.c makes them: whoever puts a name into a store, its key is
-- made again here. What a client could not have meant, such as an array with a NULL in it, has no bytes: NULL.

-- Eight bytes, the least significant first. int8send has them in the other order.
CREATE OR REPLACE FUNCTION clear.int_bytes(bigint) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT int8send((($1 & 255) << 56) | (($1 & 65280) << 40) | (($1 & 16711680) << 24) | (($1 & 4278190080) << 8)
                   | (($1 >> 8) & 4278190080) | (($1 >> 24) & 16711680) | (($1 >> 40) & 65280) | (($1 >> 56) & 255)) $$;

-- The bytes of a text of a file: a character U+10FE00 and the 255 behind it stands for a byte that is no UTF-8 (ingest/team/copy_text.c). No
-- text of a file has a byte 0.
CREATE OR REPLACE FUNCTION clear.file_bytes(text) RETURNS bytea LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stored bytea := convert_to($1, 'UTF8');
BEGIN
    IF position('\xf48f'::bytea IN stored) = 0 THEN
        RETURN stored; -- nearly all are
    ELSIF position('\xf48fb880'::bytea IN stored) > 0 THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT string_agg(CASE WHEN ascii(letter) BETWEEN 1113600 AND 1113855
                                   THEN set_byte('\x00'::bytea, 0, ascii(letter) - 1113600)
                                   ELSE convert_to(letter, 'UTF8') END, ''::bytea ORDER BY place)
            FROM regexp_split_to_table($1, '') WITH ORDINALITY AS item(letter, place));
END
$$;

-- With its length before it.
CREATE OR REPLACE FUNCTION clear.text_bytes(text) RETURNS bytea LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bytes bytea := clear.file_bytes($1);
BEGIN
    RETURN clear.int_bytes(length(bytes)) || bytes;
END
$$;

-- With their number before them.
CREATE OR REPLACE FUNCTION clear.ints_bytes(bigint[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bytes bytea := clear.int_bytes(cardinality($1));
BEGIN
    IF cardinality($1) = 0 THEN
        RETURN bytes;
    ELSIF array_ndims($1) <> 1 OR array_lower($1, 1) <> 1 OR array_position($1, NULL) IS NOT NULL THEN
        RETURN NULL;
    END IF;
    RETURN bytes || (SELECT string_agg(clear.int_bytes(value), ''::bytea ORDER BY place)
                     FROM unnest($1) WITH ORDINALITY AS list(value, place));
END
$$;
