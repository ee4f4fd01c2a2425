-- Due: lists the packets of a partition whose due date has come, earliest first.
--
--   KEYS   1 due index
--   ARGV   1 the most packets to return
--   Reply  packet, due date in ms, packet, due date …
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'WITHSCORES', 'LIMIT', 0, ARGV[1])
