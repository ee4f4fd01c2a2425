-- Close: marks a packet closed for good, or says why not.
--
-- KEYS   1 due index, 2 image
-- ARGV   1 packet, 2 '1' for a cancel, else '0'
-- Reply  {} if it is missing; {0, status} if refused; {1, reason, fields of the image} when closed
--
-- Always: the first reason stays; nothing reopens. The new due date is the lease: when the closer dies, another
-- one comes. An early close is refused and puts the due date back to the deadline.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local got = redis.call('HMGET', KEYS[2], '#life', '#count', '#deadline', '#next', '#retired')
if not got[1] or string.sub(got[1], 1, 40) ~= generation then
  return {}
end
local status, drained, over = string.sub(got[1], 42), got[2] == got[4], now >= tonumber(got[3])
local after, spare = string.match(got[4], '^(%d+) ?(%d*)')

local function due(at)
  if not got[5] then
    redis.call('ZADD', KEYS[1], at, ARGV[1])
  end
end

local reason = status
if ARGV[2] == '1' then
  if status == 'open' and tonumber(after) == (tonumber(spare) or 0) and not over then
    reason = 'cancelled'
  elseif status ~= 'cancelled' then
    return {0, status}
  end
elseif status == 'open' then
  if drained then
    reason = 'drained'
  elseif over then
    reason = 'expired'
  else
    due(got[3])
    return {0, status}
  end
end
-- A Redis that is full refuses a script whose first write takes memory. This one takes none: a packet must end, and its
-- end is what gives memory back.
redis.call('HDEL', KEYS[2], '#')
if reason ~= status then
  redis.call('HSET', KEYS[2], '#life', generation .. ' ' .. reason)
end
due(string.format('%.0f', now + 2000))
return {1, reason, redis.call('HGETALL', KEYS[2])}
