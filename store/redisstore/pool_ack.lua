-- Ack: forgets claims in the outboxes of some partitions; an entry goes with the last of its claims.
--
-- KEYS   for each partition: 1 outbox, 2 acks. (In a cluster a call is about one partition.)
-- ARGV   for each partition: how many of its entries follow; for each entry: its id, its packet, and the claims to
--        forget, "user share user share …" by share
-- Reply  1
--
-- Always: only what the entry holds is forgotten, for ids may come again after a loss. Of an entry in part forgotten
-- the acks hold what is left, in the entry's own form. #held counts the claims not forgotten, exactly.
local function count(claims)
  return (select(2, string.gsub(claims, ' ', '')) + 1) / 2
end

-- forget gives how many claims of the entry it has forgotten. parts: is any entry in part forgotten?
local function forget(out, acks, parts, id, packet, claims)
  local entry = redis.call('XRANGE', out, id, id)[1]
  if not entry or entry[2][1] ~= packet then
    return 0, parts
  end
  local left = parts and redis.call('HGET', acks, id)
  if not left and claims == entry[2][2] then
    redis.call('XDEL', out, id)
    return count(claims), parts
  end
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
    redis.call('XDEL', out, id)
    redis.call('HDEL', acks, id)
  elseif #rest < before then
    redis.call('HSET', acks, id, table.concat(rest, ' '))
    parts = true
  end
  return before - #rest, parts
end

local arg = 1
for key = 1, #KEYS, 2 do
  local out, acks, gone = KEYS[key], KEYS[key + 1], 0
  local parts, last = redis.call('HLEN', acks) > 1, arg + 3 * ARGV[arg]
  for i = arg + 1, last, 3 do
    local forgotten
    forgotten, parts = forget(out, acks, parts, ARGV[i], ARGV[i + 1], ARGV[i + 2])
    gone = gone + forgotten
  end
  if gone > 0 then
    redis.call('HINCRBY', acks, '#held', -gone)
  end
  arg = last + 1
end
return 1
