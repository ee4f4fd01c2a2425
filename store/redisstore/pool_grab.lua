-- Grab: answers the askers of some packets of one partition, in order, and remembers the winners.
--
-- KEYS   1 due index, 2 outbox, 3 acks, from 4 the images of the packets
-- ARGV   1 how many claims the outbox may hold; then for each packet: its id, the number n of its askers, what is
--        held against them (a digit for each, 0 nothing, 1 not a member, 2 denied; empty: nothing against any),
--        and the n users
-- Reply  for each packet -1 if it is missing, else shares taken before, the outbox entry or why it is closed, n codes:
--        code = decision + 16 * share; decision as redpacket.Decision numbers it, or 9: granted, and it was the last
--
-- Always: one entry for all winners of a packet, written before they are; a share and a user once; lowest share
-- first; whoever has a share hears of it before any other check; the last share makes the packet due.
-- Every command and every number that becomes text costs about as much as all the rest of a lone grab: hence few.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local open = generation .. ' open'

-- The most common call, a lone asker who gets a share that is not the last, costs a fifth less this way.
if #KEYS == 4 and ARGV[3] == '1' and ARGV[4] == '' then
  local user = ARGV[5]
  local got = redis.call('HMGET', KEYS[4], '#life', '#count', '#deadline', '#next', user)
  local share = tonumber(got[4])
  if got[1] == open and not got[5] and share and share + 1 < tonumber(got[2]) and now < tonumber(got[3]) then
    if redis.call('HINCRBY', KEYS[3], '#held', '1') <= tonumber(ARGV[1]) then
      local entry = redis.call('XADD', KEYS[2], '*', ARGV[2], user .. ' ' .. got[4])
      redis.call('HSET', KEYS[4], '#next', string.format('%d', share + 1), user, got[4])
      return {share, entry, 8 + 16 * share}
    end
    redis.call('HINCRBY', KEYS[3], '#held', '-1')
  end
end

-- decide writes nothing: it gives the reply and, for each packet with winners, what is to be written.
local function decide(room)
  local reply, plans, granted, arg = {}, {}, 0, 2
  for k = 4, #KEYS do
    local n, against, first = tonumber(ARGV[arg + 1]), ARGV[arg + 2], arg + 2
    local got = redis.call('HMGET', KEYS[k], '#life', '#count', '#deadline', '#next', unpack(ARGV, first + 1, first + n))
    local closed
    if got[1] ~= open and got[1] and string.sub(got[1], 1, 40) == generation then
      closed = string.sub(got[1], 42)
    end
    if got[1] ~= open and not closed then
      reply[#reply + 1] = -1
    else
      -- Free are: after, after + 1 … count - 1; and the spans "from-to" in holes, below after, in all spare shares.
      local count, late, after, spare, from, to, holes = tonumber(got[2]), now >= tonumber(got[3]), tonumber(got[4]), 0
      if not after then
        after, spare, from, to, holes = string.match(got[4], '^(%d+) (%d+) (%d+)-(%d+),?(.*)$')
        after, spare, from, to = tonumber(after), tonumber(spare), tonumber(from), tonumber(to)
      end
      local taken, base, won, claims = after - spare, #reply + 2, {}, {}
      reply[base - 1], reply[base] = taken, closed or ''
      for i = 1, n do
        local user = ARGV[first + i]
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
        elseif granted == room then
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
        plans[#plans + 1] = {k, ARGV[arg], base, claims, free, taken == count}
      end
    end
    arg = first + n + 1
  end
  return reply, plans, granted
end

local cap = tonumber(ARGV[1])
local reply, plans, granted = decide(cap)
if granted > 0 then
  -- The first write, which Redis refuses when it is full.
  local held = redis.call('HINCRBY', KEYS[3], '#held', string.format('%d', granted))
  if held > cap then
    local before = held - granted
    reply, plans, granted = decide(math.max(0, cap - before))
    redis.call('HINCRBY', KEYS[3], '#held', string.format('%d', before + granted - held))
  end
end
for i = 1, #plans do
  local k, id, base, claims, free, drained = unpack(plans[i])
  reply[base] = redis.call('XADD', KEYS[2], '*', id, table.concat(claims, ' '))
  redis.call('HSET', KEYS[k], '#next', free, unpack(claims))
  if drained then
    redis.call('ZADD', KEYS[1], 'LT', string.format('%.0f', now + 2000), id)
  end
end
return reply
