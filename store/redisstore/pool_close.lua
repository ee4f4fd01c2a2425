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
local generation = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local got = redis.call('HMGET', KEYS[2], '#gen', '#status', '#count', '#deadline', '#taken', '#retired')
if got[1] ~= generation then
  return {}
end
local status, drained, taken = got[2], got[3] == got[5], tonumber(got[5])
local over = now >= tonumber(got[4])

local function due(at)
  if not got[6] then
    redis.call('ZADD', KEYS[1], at, ARGV[1])
  end
end

local reason = status
if ARGV[2] == '1' then
  if status == 'open' and taken == 0 and not over then
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
    due(got[4])
    return {0, status}
  end
end
if reason ~= status then
  redis.call('HSET', KEYS[2], '#status', reason)
end
due(string.format('%.0f', now + 2000))
return {1, reason, redis.call('HGETALL', KEYS[2])}
