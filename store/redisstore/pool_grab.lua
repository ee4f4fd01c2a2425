-- Grab: answers the askers of some packets, packet by packet, each in order, and remembers the winners.
--
-- KEYS   for each partition: 1 due index, 2 outbox, 3 held, and the images of its packets. (In a cluster a call is
--        about one partition.)
-- ARGV   1 how many claims an outbox may hold; then for each partition: how many packets and how many askers it has
--        here; and for each of the packets: what is held against its askers (a digit for each: 0 nothing, 1 not a member,
--        2 denied), and the askers
-- Reply  "entry share" to who asks alone and is granted one, to others a list: the name of the outbox entries; and for each
--        packet: -1, it is missing; or -2 - share, its askers were granted this share and those that follow it; or how
--        many shares were taken before, why it is closed or '', and a code for each asker: decision + 16 * share, the
--        decision as redpacket.Decision numbers it, or 9: granted, the last
--
-- The outbox is a sorted set. An entry is "time image user share user share …", shares rising; the time, in us, is its
-- score, and its name. held is how many claims are in all entries, exactly.
--
-- Always: one entry for all winners of a packet, written before they are; a share and a user once; lowest share
-- first; whoever has a share hears of it before any other check; the last share makes the packet due.
-- Each command, and each number that becomes text, costs about as much as all the Lua around it: hence so few.
local time = redis.call('TIME')
local now, entry = time[1] * 1000000 + time[2], time[1] .. string.format('%06d', time[2])
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local open, cap = generation .. ' open', tonumber(ARGV[1])

-- Who comes alone mostly gets a share. He is answered before there are functions: to make them would cost him a quarter more.
local alone = #ARGV == 5 and redis.call('HMGET', KEYS[4], '#life', '#count', '#deadline', '#next', ARGV[5])
if alone and ARGV[4] == '0' then
  local share = tonumber(alone[4])
  if alone[1] == open and not alone[5] and share and share + 1 < tonumber(alone[2]) and now < alone[3] * 1000 then
    if redis.call('INCRBY', KEYS[3], 1) <= cap then
      redis.call('ZADD', KEYS[2], entry, entry .. ' ' .. KEYS[4] .. ' ' .. ARGV[5] .. ' ' .. alone[4])
      redis.call('HSET', KEYS[4], '#next', string.format('%d', share + 1), ARGV[5], alone[4])
      return entry .. ' ' .. alone[4]
    end
    redis.call('INCRBY', KEYS[3], -1)
  end
end

local call, ARGV, KEYS = redis.call, ARGV, KEYS -- a global costs more each time
local reply = {entry}
local due, out, held, askers, room, granted -- of the partition at hand

-- has tells whether the outbox has place for n claims more. Whoever wins first takes places for all askers, as far as
-- there are any, so that most calls count once; it is also the first write, which Redis refuses when its memory is full.
local function has(n)
  if not room then
    room = askers - math.max(0, call('INCRBY', held, askers) - cap)
  end
  return granted + n <= room
end

-- remember writes the entry of n winners, and then their shares. (One winner's are written where he wins: that is quicker.)
local function remember(image, n, free, claims, ...)
  granted = granted + n
  call('ZADD', out, entry, entry .. ' ' .. image .. ' ' .. claims)
  call('HSET', image, '#next', free, ...)
end

-- together gives each of the n askers a share, if nothing is held against any, nobody has one or asks twice, the shares
-- left have no hole, and they are more than n. False: it is not as simple as that.
local function together(image, n, first, against, got)
  local after = tonumber(got[4])
  if got[1] ~= open or not after or after + n >= tonumber(got[2]) or now >= got[3] * 1000 or
    against ~= '0' and string.find(against, '[12]') then
    return false
  end
  local free = string.format('%d', after + n)
  if n == 1 then -- tables cost much where a call is about many packets
    local user = ARGV[first + 1]
    if got[5] or not has(1) then
      return false
    end
    granted = granted + 1
    call('ZADD', out, entry, entry .. ' ' .. image .. ' ' .. user .. ' ' .. got[4])
    call('HSET', image, '#next', free, user, got[4])
  else
    local claims = {}
    for i = 1, n do
      local user = ARGV[first + i]
      if got[4 + i] or claims[user] then
        return false
      end
      claims[user] = true
      claims[2 * i - 1] = user
      claims[2 * i] = string.format('%d', after + i - 1)
    end
    if not has(n) then
      return false
    end
    remember(image, n, free, table.concat(claims, ' '), unpack(claims))
  end
  reply[#reply + 1] = -2 - after
  return true
end

-- grab answers any askers, one after the other.
local function grab(image, n, first, against, got)
  local closed
  if got[1] ~= open then
    if not got[1] or string.sub(got[1], 1, 40) ~= generation then
      reply[#reply + 1] = -1
      return
    end
    closed = string.sub(got[1], 42)
  end
  -- Free are: after, after + 1 … count - 1; and the spans "from-to" in holes, below after, in all spare shares.
  local count, late, after, spare, from, to, holes = tonumber(got[2]), now >= got[3] * 1000, tonumber(got[4]), 0
  if not after then
    after, spare, from, to, holes = string.match(got[4], '^(%d+) (%d+) (%d+)-(%d+),?(.*)$')
    after, spare, from, to = tonumber(after), tonumber(spare), tonumber(from), tonumber(to)
  end
  local taken, base, won, claims = after - spare, #reply + 2, {}, {}
  reply[base - 1], reply[base] = taken, closed or ''
  for i = 1, n do
    local user, may = ARGV[first + i], string.byte(against, i)
    local share = got[4 + i] or won[user]
    local code
    if share then
      code = 1 + 16 * share
    elseif may == 49 then
      code = 2
    elseif closed then
      code = 3
    elseif late then
      code = 4
    elseif taken == count then
      code = 5
    elseif may == 50 then
      code = 6
    elseif not has(#claims / 2 + 1) then
      code = 7
    else
      if spare == 0 then
        share, after = after, after + 1
      else
        share, from, spare = from, from + 1, spare - 1
        if from > to and spare > 0 then
          from, to, holes = string.match(holes, '^(%d+)-(%d+),?(.*)$')
          from, to = tonumber(from), tonumber(to)
        end
      end
      taken = taken + 1
      code = (taken == count and 9 or 8) + 16 * share
      share = string.format('%d', share)
      won[user] = share
      claims[#claims + 1] = user
      claims[#claims + 1] = share
    end
    reply[base + i] = code
  end
  if #claims > 0 then
    local free = string.format('%d', after)
    if spare > 0 then
      free = string.format('%d %d %d-%d,%s', after, spare, from, to, holes)
    end
    remember(image, #claims / 2, free, table.concat(claims, ' '), unpack(claims))
    if taken == count then
      call('ZADD', due, 'LT', string.format('%.0f', math.floor(now / 1000) + 2000), string.match(image, ':k:(.*)'))
    end
  end
end

local key, arg = 1, 2
while key <= #KEYS do
  due, out, held, room, granted = KEYS[key], KEYS[key + 1], KEYS[key + 2], nil, 0
  key, askers, arg = key + 3, ARGV[arg + 1], arg + 2
  for image = key, key + ARGV[arg - 2] - 1 do
    local against, first = ARGV[arg], arg
    arg = first + #against + 1
    local got = alone or call('HMGET', KEYS[image], '#life', '#count', '#deadline', '#next', unpack(ARGV, first + 1, arg - 1))
    if not together(KEYS[image], #against, first, against, got) then
      grab(KEYS[image], #against, first, against, got)
    end
    key = key + 1
  end
  if room and granted < tonumber(askers) then
    call('INCRBY', held, string.format('%d', granted - askers))
  end
end
return reply
