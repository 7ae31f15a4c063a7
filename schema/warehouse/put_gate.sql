INSERT OR REPLACE INTO gates(place, name, figure, query, subject, base, direction, limit_percent, limit_value, runs, is_timed, action, is_own)
VALUES ((SELECT coalesce(max(place), 0) + 1 FROM gates),
        :name, :figure, :query, :subject, :base, :direction, :limit_percent, :limit_value, :runs, :is_timed, :action, :is_own)
