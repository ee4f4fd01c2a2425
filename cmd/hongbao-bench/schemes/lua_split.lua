-- lua-split: article 1's script. Its keys are declared; otherwise it is unchanged.
-- KEYS  1 string, money left, with the packet's TTL
--       2 hash, packet -> pieces left
--       3 hash, user and packet -> amount
-- ARGV  1 user
--       2 packet
-- reply the amount; 0 all pieces are gone, -1 the user has one, -2 expired or never opened

if redis.call('EXISTS', KEYS[1]) ~= 1 then
  return -2
end
local record = ARGV[1] .. '-' .. ARGV[2]
if redis.call('HEXISTS', KEYS[3], record) == 1 then
  return -1
end
local left = redis.call('GET', KEYS[1])
local ttl = redis.call('TTL', KEYS[1])
local pieces = tonumber(redis.call('HGET', KEYS[2], ARGV[2]))
if pieces == 0 then
  return 0
end
local money = tonumber(left)
if pieces > 1 then
  money = math.random(1, left - 1)
end
redis.call('HSET', KEYS[3], record, money)
redis.call('SET', KEYS[1], left - money)
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('HSET', KEYS[2], ARGV[2], pieces - 1)
return money
