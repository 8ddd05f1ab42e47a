WITH recent (id, placed, total) AS (
  SELECT o.id, o.placed_at, sum(l.price * l.quantity) AS total
  FROM orders AS o
  LEFT OUTER JOIN lines AS l ON l.order_id = o.id AND l.cancelled IS NULL
  WHERE o.placed_at BETWEEN '2026-01-01' AND '2026-06-30' AND NOT o.is_test
  GROUP BY o.id, o.placed_at HAVING count(*) > 1
)
-- Customers with what they spent, the largest first.
SELECT DISTINCT c.name, coalesce(r.total, 0) AS spent,
  CASE WHEN r.total > 1000 THEN 'gold' WHEN r.total > 100.5 THEN 'silver' ELSE 'none' END AS rank
FROM customers c
JOIN recent r USING (id), regions
WHERE c.region IN (SELECT name FROM regions WHERE active = TRUE OR code LIKE 'EU%')
  AND EXISTS (SELECT 1 FROM visits v WHERE v.customer_id = c.id)
  AND (c.age + 1) % 2 <> 0 AND c.mail || '' != ''
UNION ALL SELECT 'nobody', CAST(0 AS integer), NULL
ORDER BY spent DESC NULLS LAST, name LIMIT 20 OFFSET 5;
INSERT INTO audit (who, what) VALUES ('me', 'read'), ('you', 'it''s');
UPDATE customers SET seen = now(), visits = visits + 1 WHERE id = 17;
DELETE FROM carts WHERE updated_at < '2026-03-01' AND owner IS NOT NULL
