INSERT OR REPLACE INTO rules(name, value, unit, meaning)
VALUES (:name, :value, :unit, :meaning)
