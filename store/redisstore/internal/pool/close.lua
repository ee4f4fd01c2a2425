-- Close: marks a packet closed for good, unless that is refused.
--
--   KEYS   1 due index, 2 image
--   ARGV   1 packet, 2 the redpacket.CloseReason:
--            '0': the packet is due
--            '1': its sender cancels it
--            '2': it is closed early, because its room is deleted or a new epoch has begun
--   Reply  {} if the packet is missing; {0, status} if refused; {1, reason, fields of the image} when closed
--
-- Invariants: the first reason stays, and a closed packet never reopens. The new due date is a lease: when the instance
-- that closes the packet dies, another one closes it. A cancel is refused if a user has a share, the deadline has come, or
-- the packet is closed for another reason. A close with '0' is refused if the packet is open, a share is free and the
-- deadline has not come. A close that is refused in this way sets the due date to the deadline.
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
if string.sub(status, 1, 4) == 'wait' then
  status = 'open' -- a packet that has not opened, or holds shares, is closed like one that is open
end
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
  elseif over or ARGV[2] == '2' then
    reason = 'expired'
  else
    due(got[3])
    return {0, status}
  end
end
-- A Redis whose memory is full refuses a script whose first write may need memory. So the first write is a deletion,
-- which needs none. Packets must be closed even then, because that frees memory.
redis.call('HDEL', KEYS[2], '#')
if reason ~= status then
  redis.call('HSET', KEYS[2], '#life', generation .. ' ' .. reason)
end
due(string.format('%.0f', now + 2000))
return {1, reason, redis.call('HGETALL', KEYS[2])}
