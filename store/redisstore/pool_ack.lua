-- Ack: forgets claims in a partition's outbox; an entry goes with the last of its claims.
--
-- KEYS   1 outbox, 2 acks
-- ARGV   for each entry: its id, its packet, and the claims to forget, "user share user share …" by share
-- Reply  1
--
-- Always: only what the entry holds is forgotten, for ids may come again after a loss. Of an entry in part forgotten
-- the acks hold what is left, in the entry's own form. #held counts the claims not forgotten, exactly.
local parts = redis.call('HLEN', KEYS[2]) > 1 -- any entry in part forgotten?
local gone = 0

local function count(claims)
  return (select(2, string.gsub(claims, ' ', '')) + 1) / 2
end

for i = 1, #ARGV, 3 do
  local id, claims = ARGV[i], ARGV[i + 2]
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if entry and entry[2][1] == ARGV[i + 1] then
    local left = parts and redis.call('HGET', KEYS[2], id)
    if not left and claims == entry[2][2] then
      gone = gone + count(claims)
      redis.call('XDEL', KEYS[1], id)
    else
      local acked, rest = {}, {}
      for claim in string.gmatch(claims, '%S+ %S+') do
        acked[claim] = true
      end
      local before = count(left or entry[2][2])
      for claim in string.gmatch(left or entry[2][2], '%S+ %S+') do
        if not acked[claim] then
          rest[#rest + 1] = claim
        end
      end
      if #rest == 0 then
        redis.call('XDEL', KEYS[1], id)
        redis.call('HDEL', KEYS[2], id)
      elseif #rest < before then
        redis.call('HSET', KEYS[2], id, table.concat(rest, ' '))
        parts = true
      end
      gone = gone + before - #rest
    end
  end
end
if gone > 0 then
  redis.call('HINCRBY', KEYS[2], '#held', -gone)
end
return 1
