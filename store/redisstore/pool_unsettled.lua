-- Unsettled: lists the claims that have waited in a partition's outbox, oldest first, whole entries.
--
-- KEYS   1 outbox, 2 acks
-- ARGV   1 the age in ms, 2 after how many claims it is enough
-- Reply  entry, packet, its claims not yet acked, "user share user share …", entry, packet …
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local parts = redis.call('HLEN', KEYS[2]) > 1
local limit, reply = tonumber(ARGV[2]), {}
local entries = redis.call('XRANGE', KEYS[1], '-', string.format('%.0f', math.max(0, now - tonumber(ARGV[1]))), 'COUNT', ARGV[2])
for i = 1, #entries do
  if limit <= 0 then
    break
  end
  local id, fields = entries[i][1], entries[i][2]
  local claims = parts and redis.call('HGET', KEYS[2], id) or fields[2]
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = id, fields[1], claims
  limit = limit - (select(2, string.gsub(claims, ' ', '')) + 1) / 2
end
return reply
