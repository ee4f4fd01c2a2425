-- lua-list: article 2's script, with the packet's keys given as its Java code gives them.
-- KEYS  1 list of unclaimed shares, each JSON {id, money}
--       2 list of claimed shares, each JSON {id, money, userId}
--       3 hash of the users with a share
-- ARGV  1 user
-- reply the claimed share as JSON; nil if the user has a share, and nil if none is left

if redis.call('HEXISTS', KEYS[3], ARGV[1]) ~= 0 then
  return nil
end
local share = redis.call('RPOP', KEYS[1])
if share then
  local x = cjson.decode(share)
  x['userId'] = ARGV[1]
  local claimed = cjson.encode(x)
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[1])
  redis.call('LPUSH', KEYS[2], claimed)
  return claimed
end
return nil
