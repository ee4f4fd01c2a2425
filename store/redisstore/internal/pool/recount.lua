-- Recount: sets held to the number of claims in the outbox of a partition.
--
--   KEYS   1 outbox, 2 held
--   ARGV   1 the prefix of the partition's image keys
--   Reply  by how much held was too high; negative if it was too low
--
-- The other scripts change held and the outbox together. This script repairs held after somebody has edited the data.
-- A member that no grab can have written is not counted, because it could never be acked.
local claims, from = 0, 0
while true do
  local entries = redis.call('ZRANGE', KEYS[1], from, from + 999)
  for _, entry in ipairs(entries) do
    local image, rest = string.match(entry, '^%d+ (%S+)( .*)$')
    if image and string.sub(image, 1, #ARGV[1]) == ARGV[1] then
      local left, pairs = string.gsub(rest, ' %S+ %d+', '')
      if left == '' then
        claims = claims + pairs
      end
    end
  end
  if #entries < 1000 then
    break
  end
  from = from + 1000
end
local drift = (tonumber(redis.call('GET', KEYS[2]) or '') or 0) - claims
if drift ~= 0 then
  redis.call('SET', KEYS[2], string.format('%d', claims))
end
return drift
