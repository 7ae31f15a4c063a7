UPDATE meta
SET value = json_insert(value, '$[#]', :name)
WHERE key = 'own_facts'
