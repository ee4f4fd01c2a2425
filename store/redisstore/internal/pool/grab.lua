-- Grab: answers attempts on some packets, packet by packet, the attempts on each packet in order. Stores the grants.
--
--   KEYS   for each partition: 1 due index, 2 outbox, 3 held, and the images of its packets (in a cluster a call is about
--          one partition)
--   ARGV   1 how many claims an outbox may hold; then for each partition: the number of its packets and of its attempts
--          in this call; and for each packet: a text with a digit for each attempt (0 may grab, 1 not a member, 2 denied),
--          and the users
--   Reply  "entry share" if the only attempt of the call is granted. Otherwise a list: the name of the outbox entries, and
--          for each packet one of:
--            -1: the packet is missing
--            -2 - share: its attempts were granted consecutive shares from this one on
--            the number of shares taken before, the reason why it is closed or '', and a code for each attempt:
--            decision + 16 * share. The decision is a redpacket.Decision, or 9: granted, and it was the last share.
--
-- A packet that has not opened, or whose shares are held, has "wait" and these times in place of "open". So only
-- answerEach sees it, until the first grant after both times.
--
-- The outbox is a sorted set. An entry is "time image user share user share …", with rising shares. The time, in
-- microseconds, is its score and its name. held is exactly the number of claims in all entries.
--
-- Invariants: one entry holds all grants of one call on a packet, and is written before them; in a packet each share and
-- each user occurs once; the share that is held for the user, or else
-- the lowest free share that is not held, is granted first; a user with a share gets it as the answer before any
-- other check; the grant of the last share makes the packet due in at most 2 seconds.
--
-- Each Redis command, and each conversion of a number to text, costs about as much as all other Lua code here. So the
-- script has few of them.
local time = redis.call('TIME')
local now, entry = time[1] * 1000000 + time[2], time[1] .. string.format('%06d', time[2])
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local open, cap = generation .. ' open', tonumber(ARGV[1])

-- A single attempt is usually granted. It is answered before functions are created, which would cost a quarter more.
local single = #ARGV == 5 and redis.call('HMGET', KEYS[4], '#life', '#count', '#deadline', '#next', ARGV[5])
if single and ARGV[4] == '0' then
  local share = tonumber(single[4])
  if single[1] == open and not single[5] and share and share + 1 < tonumber(single[2]) and now < single[3] * 1000 then
    if redis.call('INCRBY', KEYS[3], 1) <= cap then
      redis.call('ZADD', KEYS[2], entry, entry .. ' ' .. KEYS[4] .. ' ' .. ARGV[5] .. ' ' .. single[4])
      redis.call('HSET', KEYS[4], '#next', string.format('%d', share + 1), ARGV[5], single[4])
      return entry .. ' ' .. single[4]
    end
    redis.call('INCRBY', KEYS[3], -1)
  end
end

local call, ARGV, KEYS = redis.call, ARGV, KEYS -- a global costs more at each use
local reply = {entry}
local due, out, held, attempts, room, granted -- of the current partition

-- reserve returns whether the outbox can take n more claims. The first call for a partition adds all its attempts to held
-- at once, so that most scripts change held once. Attempts that become no grants are subtracted at the end. It is also the
-- first write of the script, which Redis refuses when its memory is full.
local function reserve(n)
  if not room then
    room = attempts - math.max(0, call('INCRBY', held, attempts) - cap)
  end
  return granted + n <= room
end

-- writeGrants writes the entry of n grants, and then their shares. (grantAll writes a single grant itself, which
-- is faster.)
local function writeGrants(image, n, free, claims, ...)
  granted = granted + n
  call('ZADD', out, entry, entry .. ' ' .. image .. ' ' .. claims)
  call('HSET', image, '#next', free, ...)
end

-- grantAll grants a share to each of the n attempts. It returns false, and grants nothing, unless all of these hold:
--
--   - the packet is open, and its deadline has not come
--   - every user may grab, no user has a share, and no user occurs twice
--   - the free shares are consecutive, and there are more than n of them
--   - the outbox can take n claims
local function grantAll(image, n, first, permissions, got)
  local after = tonumber(got[4])
  if got[1] ~= open or not after or after + n >= tonumber(got[2]) or now >= got[3] * 1000 or
    permissions ~= '0' and string.find(permissions, '[12]') then
    return false
  end
  local free = string.format('%d', after + n)
  if n == 1 then -- tables are expensive when a call is about many packets
    local user = ARGV[first + 1]
    if got[5] or not reserve(1) then
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
    if not reserve(n) then
      return false
    end
    writeGrants(image, n, free, table.concat(claims, ' '), unpack(claims))
  end
  reply[#reply + 1] = -2 - after
  return true
end

-- heldShares returns three functions. The first one finds the share for a user; nil if all free shares are held for others. The second one
-- takes it. The third one returns the value of #next. All calls together read each free span and each held share a few times.
local function heldShares(image, count, after, from, to, holes)
  local of, keeps, free = {}, {}, {} -- free: the spans of shares that were free at first
  for user, share in string.gmatch(call('HGET', image, '#held') or '', '(%S+) (%d+)') do
    of[user] = tonumber(share)
    keeps[of[user]] = true
  end
  while from do
    free[#free + 1] = {from, to}
    from, to, holes = string.match(holes, '^(%d+)-(%d+),?(.*)$')
    from, to = tonumber(from), tonumber(to)
  end
  if after < count then
    free[#free + 1] = {after, count - 1}
  end
  local gone, list, at = {}, {}, 1 -- the shares taken; no share before lowest is free for all, and it lies in the span `at` or before it
  local lowest = free[1] and free[1][1]

  local function wasFree(share)
    local low, high = 1, #free
    while low < high do
      local middle = math.floor((low + high) / 2)
      if free[middle][2] < share then
        low = middle + 1
      else
        high = middle
      end
    end
    return low == high and free[low][1] <= share and share <= free[low][2]
  end

  return function(user)
    local own = of[user]
    if own and not gone[own] and wasFree(own) then
      return own
    end
    while free[at] do
      if lowest > free[at][2] then
        at = at + 1
        lowest = free[at] and free[at][1]
      elseif keeps[lowest] or gone[lowest] then
        lowest = lowest + 1
      else
        return lowest
      end
    end
  end, function(share)
    gone[share] = true
    list[#list + 1] = share
    return share
  end, function(taken)
    table.sort(list)
    local left, n = {}, 1
    for _, span in ipairs(free) do
      local first = span[1]
      while list[n] and list[n] <= span[2] do
        if first < list[n] then
          left[#left + 1] = {first, list[n] - 1}
        end
        first, n = list[n] + 1, n + 1
      end
      if first <= span[2] then
        left[#left + 1] = {first, span[2]}
      end
    end
    local last, spans = left[#left], {}
    if last and last[2] == count - 1 then
      after, left[#left] = last[1], nil
    else
      after = count
    end
    for i, span in ipairs(left) do
      spans[i] = string.format('%d-%d', span[1], span[2])
    end
    return #spans == 0 and string.format('%d', after) or string.format('%d %d %s', after, after - taken, table.concat(spans, ','))
  end
end

-- answerEach answers the attempts one after the other.
local function answerEach(image, n, first, permissions, got)
  local closed, opens, till
  if got[1] ~= open then
    if not got[1] or string.sub(got[1], 1, 40) ~= generation then
      reply[#reply + 1] = -1
      return
    end
    closed = string.sub(got[1], 42)
    opens, till = string.match(closed, '^wait (%d+) (%d+)$')
    if opens then
      closed = nil
    end
  end
  local early = opens and now < opens * 1000
  -- The free shares are: after, after + 1 … count - 1; and below after, the span from the share `from` to the share `to`,
  -- and then the spans in `holes`. These spans contain `spare` shares together.
  local count, expired, after, spare, from, to, holes = tonumber(got[2]), now >= got[3] * 1000, tonumber(got[4]), 0
  if not after then
    after, spare, from, to, holes = string.match(got[4], '^(%d+) (%d+) (%d+)-(%d+),?(.*)$')
    after, spare, from, to = tonumber(after), tonumber(spare), tonumber(from), tonumber(to)
  end
  local taken, base, won, claims = after - spare, #reply + 2, {}, {}
  local find, take, format -- while shares are held
  if till and not early and now < till * 1000 then
    find, take, format = heldShares(image, count, after, from, to, holes)
  end
  reply[base - 1], reply[base] = taken, closed or ''
  for i = 1, n do
    local user, may = ARGV[first + i], string.byte(permissions, i)
    local share = got[4 + i] or won[user]
    local code
    if share then
      code = 1 + 16 * share
    elseif may == 49 then
      code = 2
    elseif closed then
      code = 3
    elseif early then
      code = 10
    elseif expired then
      code = 4
    elseif taken == count then
      code = 5
    elseif find and not find(user) then
      code = 11 + 16 * (count - taken)
    elseif may == 50 then
      code = 6
    elseif not reserve(#claims / 2 + 1) then
      code = 7
    else
      if take then
        share = take(find(user))
      elseif spare == 0 then
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
    if take then
      free = format(taken)
    elseif spare > 0 then
      free = string.format('%d %d %d-%d,%s', after, spare, from, to, holes)
    end
    local granted, text = #claims / 2, table.concat(claims, ' ')
    if opens and not take then
      claims[#claims + 1] = '#life'
      claims[#claims + 1] = open
    end
    writeGrants(image, granted, free, text, unpack(claims))
    if taken == count then
      call('ZADD', due, 'LT', string.format('%.0f', math.floor(now / 1000) + 2000), string.match(image, ':k:(.*)'))
    end
  end
end

local key, arg = 1, 2
while key <= #KEYS do
  due, out, held, room, granted = KEYS[key], KEYS[key + 1], KEYS[key + 2], nil, 0
  key, attempts, arg = key + 3, ARGV[arg + 1], arg + 2
  for image = key, key + ARGV[arg - 2] - 1 do
    local permissions, first = ARGV[arg], arg
    arg = first + #permissions + 1
    local got = single or call('HMGET', KEYS[image], '#life', '#count', '#deadline', '#next', unpack(ARGV, first + 1, arg - 1))
    if not grantAll(KEYS[image], #permissions, first, permissions, got) then
      answerEach(KEYS[image], #permissions, first, permissions, got)
    end
    key = key + 1
  end
  if room and granted < tonumber(attempts) then
    call('INCRBY', held, string.format('%d', granted - attempts))
  end
end
return reply
