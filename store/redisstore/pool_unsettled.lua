-- Unsettled: lists the claims that have waited in a partition's outbox, oldest first, whole entries.
--
-- KEYS   1 outbox
-- ARGV   1 the age in ms, 2 after how many claims it is enough
-- Reply  the entries, as the grab writes them
-- Ages are in whole ms, as all times are outside of the outbox.
local time = redis.call('TIME')
local upTo = (time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]) * 1000 + 999
local limit, reply = tonumber(ARGV[2]), {}
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', upTo), 'LIMIT', 0, ARGV[2])) do
  if limit <= 0 then
    break
  end
  reply[#reply + 1] = entry
  limit = limit - (select(2, string.gsub(entry, ' ', '')) - 1) / 2
end
return reply
