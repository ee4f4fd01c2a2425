-- Ack: removes claims from the outboxes of some partitions. An entry is deleted with the last of its claims.
--
--   KEYS   for each partition: 1 outbox, 2 held (in a cluster a call is about one partition)
--   ARGV   for each partition: the number of its entries that follow, and these entries. An entry has the format in which
--          grab.lua stores it, but contains only the claims to remove: usually all of the stored entry. No entry occurs twice.
--   Reply  1
--
-- Invariants: only claims that the stored entry holds are removed; held is exactly the number of claims that remain.
local out, found -- of the current partition: its outbox, and the entries read from it: time -> "time image" -> entries

-- entries returns the stored entries with this time and image: none, one, or several if the clock was set back.
local function entries(time, head)
  if not found[time] then
    found[time] = {}
    for _, entry in ipairs(redis.call('ZRANGEBYSCORE', out, time, time)) do
      local its = string.match(entry, '^%S* %S*') or entry
      found[time][its] = found[time][its] or {}
      table.insert(found[time][its], entry)
    end
  end
  return found[time][head] or {}
end

-- forget removes the claims of this entry from the outbox, and returns how many it has removed.
local function forget(entry)
  if redis.call('ZREM', out, entry) == 1 then
    return (select(2, string.gsub(entry, ' ', '')) - 1) / 2
  end
  -- The stored entry holds other claims as well, or only some of these, or it is gone.
  local head, time, claims = string.match(entry, '^((%S*) %S*) (.*)$')
  local acked, gone = {}, 0
  for claim in string.gmatch(claims, '%S+ %S+') do
    acked[claim] = true
  end
  for _, held in ipairs(entries(time, head)) do
    local rest, before = {head}, gone
    for claim in string.gmatch(string.sub(held, #head + 2), '%S+ %S+') do
      if acked[claim] then
        gone = gone + 1
      else
        rest[#rest + 1] = claim
      end
    end
    if gone > before then
      redis.call('ZREM', out, held)
      if #rest > 1 then
        redis.call('ZADD', out, time, table.concat(rest, ' '))
      end
    end
  end
  return gone
end

local arg = 1
for key = 1, #KEYS, 2 do
  local gone, last = 0, arg + ARGV[arg]
  out, found = KEYS[key], {}
  for i = arg + 1, last do
    gone = gone + forget(ARGV[i])
  end
  if gone > 0 then
    redis.call('INCRBY', KEYS[key + 1], string.format('%d', -gone))
  end
  arg = last + 1
end
return 1
