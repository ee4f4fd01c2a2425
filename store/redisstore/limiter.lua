-- Takes tokens out of a bucket, or returns the wait until the bucket has enough (the "generic cell rate algorithm").
--
--   KEYS[1]  the bucket: the time at which it is full again, in microseconds since 1970. Without the key the bucket is full.
--   ARGV[1]  microseconds between two tokens, a whole number
--   ARGV[2]  tokens that a full bucket holds
--   ARGV[3]  tokens to take, at most ARGV[2]
--   Reply    0: the tokens were taken; otherwise none was taken, and the reply is the wait in microseconds
--
-- Invariants: at most ARGV[2] tokens at once, and then one in ARGV[1] microseconds. All numbers are whole and below
-- 2^53. The key expires when the bucket is full. The script must not be repeated: each run takes tokens.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local every = tonumber(ARGV[1])
local depth = every * tonumber(ARGV[2])
local cost = every * tonumber(ARGV[3])

local function keep(full)
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PXAT', string.format('%.0f', math.ceil(full / 1000)))
end

local full = math.max(tonumber(redis.call('GET', KEYS[1])) or 0, now)
if full > now + depth then -- emptier than an empty bucket: written with another rate or by another clock
  full = now + depth
  keep(full)
end
local wait = full + cost - depth - now
if wait > 0 then return wait end
keep(full + cost)
return 0
