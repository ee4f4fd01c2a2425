-- Grab: answers the askers of some packets, packet by packet, each in order, and remembers the winners.
--
-- KEYS   for each partition: 1 due index, 2 outbox, 3 acks, and the images of its packets. (In a cluster a call is
--        about one partition.)
-- ARGV   1 how many claims an outbox may hold; then for each partition: how many packets and how many askers it has
--        here; and for each of the packets: its id, the number n of its askers, what is held against them (a digit
--        for each, 0 nothing, 1 not a member, 2 denied; empty: nothing against any), and the n users
-- Reply  for each packet -1 if it is missing, else shares taken before, the outbox entry or why it is closed, n codes:
--        code = decision + 16 * share; decision as redpacket.Decision numbers it, or 9: granted, and it was the last
--
-- Always: one entry for all winners of a packet, written before they are; a share and a user once; lowest share
-- first; whoever has a share hears of it before any other check; the last share makes the packet due.
-- Each command, and each number that becomes text, costs about as much as all the Lua around it: hence so few.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local open = generation .. ' open'
local cap, reply = tonumber(ARGV[1]), {}
local due, out, acks, askers, room, granted -- of the partition at hand

-- full tells whether the outbox has no place left. Whoever wins first takes places for all askers, as far as there
-- are any, so that most calls count once; it is also the first write, which Redis refuses when its memory is full.
local function full()
  if not room then
    room = askers - math.max(0, redis.call('HINCRBY', acks, '#held', askers) - cap)
  end
  return granted >= room
end

-- lone is grab for one asker, against whom nothing is held, who gets a share that is not the last. False: not so.
local function lone(image, id, user)
  local got = redis.call('HMGET', image, '#life', '#count', '#deadline', '#next', user)
  local share = tonumber(got[4])
  if got[1] ~= open or got[5] or not share or share + 1 >= tonumber(got[2]) or now >= tonumber(got[3]) or full() then
    return false
  end
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = share, redis.call('XADD', out, '*', id, user .. ' ' .. got[4]), 8 + 16 * share
  redis.call('HSET', image, '#next', string.format('%d', share + 1), user, got[4])
  granted = granted + 1
  return true
end

local function grab(image, id, n, against, first)
  local got = redis.call('HMGET', image, '#life', '#count', '#deadline', '#next', unpack(ARGV, first, first + n - 1))
  local closed
  if got[1] ~= open then
    if not got[1] or string.sub(got[1], 1, 40) ~= generation then
      reply[#reply + 1] = -1
      return
    end
    closed = string.sub(got[1], 42)
  end
  -- Free are: after, after + 1 … count - 1; and the spans "from-to" in holes, below after, in all spare shares.
  local count, late, after, spare, from, to, holes = tonumber(got[2]), now >= tonumber(got[3]), tonumber(got[4]), 0
  if not after then
    after, spare, from, to, holes = string.match(got[4], '^(%d+) (%d+) (%d+)-(%d+),?(.*)$')
    after, spare, from, to = tonumber(after), tonumber(spare), tonumber(from), tonumber(to)
  end
  local taken, base, won, claims = after - spare, #reply + 2, {}, {}
  reply[base - 1], reply[base] = taken, closed or ''
  for i = 1, n do
    local user = ARGV[first + i - 1]
    local share = got[4 + i] or won[user]
    local may = against == '' and 48 or string.byte(against, i)
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
    elseif full() then
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
      taken, granted = taken + 1, granted + 1
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
    reply[base] = redis.call('XADD', out, '*', id, table.concat(claims, ' '))
    redis.call('HSET', image, '#next', free, unpack(claims))
    if taken == count then
      redis.call('ZADD', due, 'LT', string.format('%.0f', now + 2000), id)
    end
  end
end

local key, arg = 1, 2
while key <= #KEYS do
  due, out, acks, room, granted = KEYS[key], KEYS[key + 1], KEYS[key + 2], nil, 0
  key, askers, arg = key + 3, ARGV[arg + 1], arg + 2
  for image = key, key + ARGV[arg - 2] - 1 do
    local id, n, against = ARGV[arg], ARGV[arg + 1], ARGV[arg + 2]
    if n ~= '1' or against ~= '' or not lone(KEYS[image], id, ARGV[arg + 3]) then
      grab(KEYS[image], id, tonumber(n), against, arg + 3)
    end
    key, arg = key + 1, arg + 3 + n
  end
  if room and granted < tonumber(askers) then
    redis.call('HINCRBY', acks, '#held', string.format('%d', granted - askers))
  end
end
return reply
