-- Is :labels a list of labels?
SELECT json_valid(:labels) AND json_type(:labels) = 'array'
