/**
 * The operations that Redis carries out as {@link https://valkey.io/topics/eval-intro/ scripts}, because each reads and
 * writes in one step. They use the clock of the server, in microseconds, which a number in Lua holds exactly.
 */

const NOW = `local t = redis.call('TIME') local now = t[1] * 1000000 + t[2]`;

/** A number that is larger than any before: the time, or one more than the last if the clock was set back. */
const NEXT_TOKEN = `
local function next_token(last)
  local token = math.max(now, tonumber(redis.call('GET', last) or 0) + 1)
  redis.call('SET', last, string.format('%.0f', token), 'PX', 86400000)
  return string.format('%.0f', token)
end`;

const TAKE_TOKENS = `
${NOW}
local rate, burst, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1] or burst), tonumber(bucket[2] or now)
tokens = math.min(burst, tokens + math.max(0, now - at) / 1000000 * rate)
if tokens < count then return string.format('%.6f', (count - tokens) / rate) end
tokens = math.min(burst, tokens - count)
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 1000) + 1000)
return '0'`;

const INCREMENT = `
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return value`;

/**
 * Keeps half of `maxmemory` for leases and the like, however many blobs are stored. While the server uses more,
 * `make_room` removes all blobs of the owner whose blobs would expire first; those of the owner who stores go last. If
 * none are left, something else uses the memory, and the put is refused as by a full server. `make_room` has to come
 * before the first write of a script: after it, Redis lets every command exceed `maxmemory`. A user that may not call
 * INFO has no such limit.
 */
const MAKE_ROOM = `
local function is_over_budget()
  local info = redis.pcall('INFO', 'memory')
  if type(info) ~= 'string' then return false end
  local limit = tonumber(info:match('\\nmaxmemory:(%d+)'))
  return limit > 0 and tonumber(info:match('\\nused_memory:(%d+)')) > limit / 2
end
local function make_room(owner, owners)
  if not is_over_budget() then return true end
  redis.call('ZREMRANGEBYSCORE', owners, '-inf', string.format('%.0f', now))
  repeat
    local first, second = unpack(redis.call('ZRANGE', owners, 0, 1))
    local victim = first == owner and second or first
    if not victim then return false end
    redis.call('ZREM', owners, victim)
    for i = 1, 3 do redis.call('DEL', KEYS[i]:sub(1, #KEYS[i] - #owner) .. victim) end
  until not is_over_budget()
  return true
end`;

/** Sets when the blobs of an owner expire; all owners are in a sorted set by that time. */
const EXPIRE_OWNER = `
local function expire_owner(owner, owners, ttl)
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ttl) end
  redis.call('ZREMRANGEBYSCORE', owners, '-inf', string.format('%.0f', now))
  redis.call('ZADD', owners, string.format('%.0f', now + ttl * 1000), owner)
  if redis.call('PTTL', owners) < tonumber(ttl) then redis.call('PEXPIRE', owners, ttl) end
end`;

/**
 * An owner has two hashes, of bytes and of versions, and a sorted set of its keys by last use. The fields `ttl` and
 * `bytes` of the versions, the length of all blobs together, are no keys: those have a prefix. The length is counted
 * anew from a blob that is alone, so that what an earlier version of the server has not counted is not left out for
 * ever.
 */
const PUT_BLOB = `
${NOW}${NEXT_TOKEN}${MAKE_ROOM}${EXPIRE_OWNER}
local blobs, versions, uses, owners, last = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, key, blob = ARGV[1], ARGV[2], ARGV[3]
local max_bytes, max_entries, ttl = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
if not make_room(owner, owners) then return redis.error_reply('OOM more than half of the memory holds no blobs') end
local version = next_token(last)
local bytes = tonumber(redis.call('HGET', versions, 'bytes') or 0) - redis.call('HSTRLEN', blobs, key) + #blob
redis.call('HDEL', blobs, key) redis.call('ZREM', uses, key)
local entries = redis.call('ZCARD', uses) + 1
while entries > 1 and (bytes > max_bytes or entries > max_entries) do
  local oldest = redis.call('ZPOPMIN', uses)[1]
  bytes = bytes - redis.call('HSTRLEN', blobs, oldest)
  entries = entries - 1
  redis.call('HDEL', blobs, oldest) redis.call('HDEL', versions, oldest)
end
if entries == 1 then bytes = #blob end
redis.call('HSET', blobs, key, blob)
redis.call('HSET', versions, key, version, 'ttl', ttl, 'bytes', string.format('%.0f', bytes))
redis.call('ZADD', uses, version, key)
expire_owner(owner, owners, ttl)
return version`;

const GET_BLOB = `
${NOW}${EXPIRE_OWNER}
local owner, key = ARGV[1], ARGV[2]
local blob, ttl = redis.call('HGET', KEYS[1], key), redis.call('HGET', KEYS[2], 'ttl')
if not blob or not ttl then return false end
expire_owner(owner, KEYS[4], ttl)
redis.call('ZADD', KEYS[3], string.format('%.0f', now), key)
return blob`;

const LIST_BLOBS = `
local list = {}
for _, key in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  list[#list + 1] = key
  list[#list + 1] = redis.call('HGET', KEYS[2], key)
end
return list`;

const DELETE_BLOB = `
local bytes, length = redis.call('HGET', KEYS[2], 'bytes'), redis.call('HSTRLEN', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1]) redis.call('HDEL', KEYS[2], ARGV[1]) redis.call('ZREM', KEYS[3], ARGV[1])
if bytes then redis.call('HSET', KEYS[2], 'bytes', string.format('%.0f', bytes - length)) end
return 1`;

const DELETE_OWNER = `
redis.call('ZREM', KEYS[4], ARGV[1])
return redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])`;

/**
 * A server that was started again, or takes the place of another, may have lost grants and notes, all or the latest. It
 * is known by its run id, which key 5 holds with the first token of the run: notes of earlier holders are not known then,
 * and leases without a note have unknown holders for a while (`''`), and may have forgotten ones for longer.
 * A user that may not call INFO notices only that everything was lost.
 *
 * From when a lease is granted until it is released with a note, the last note (key 3) is outdated: key 4 says by whom.
 * Whoever has not got the answer to that asks again, and is granted it anew.
 */
const ACQUIRE_LEASE = `
local lease, last, noted, unreleased, run_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ttl, unreleased_ttl, owner, unknown_ms, forgotten_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local holder = redis.call('GET', unreleased)
if redis.call('EXISTS', lease) == 1 and (owner == '' or holder ~= owner) then return {} end
${NOW}${NEXT_TOKEN}
local token = next_token(last)
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and info:match('\\nrun_id:(%x+)') or '0'
local known, since = string.match(redis.call('GET', run_key) or '', '^(%x+) (%d+)$')
if known ~= run then since = token end
redis.call('SET', run_key, run .. ' ' .. since, 'PX', unreleased_ttl)
redis.call('SET', lease, token, 'PX', ttl)
redis.call('SET', unreleased, owner, 'PX', unreleased_ttl)
if holder then return {token, ''} end
local by, note = string.match(redis.call('GET', noted) or '', '^(%d+) (.*)$')
if by then return {token, tonumber(by) < tonumber(since) and '' or note} end
local run_ms = (now - since) / 1000
return {token, run_ms < unknown_ms and '', run_ms < forgotten_ms and 1}`;

const RENEW_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const RELEASE_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] then redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3]) redis.call('DEL', KEYS[3]) end
return redis.call('DEL', KEYS[1])`;

const HAND_ON_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {} end
${NOW}${NEXT_TOKEN}
local token = next_token(KEYS[2])
redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
redis.call('PEXPIRE', KEYS[4], ARGV[4])
redis.call('SET', KEYS[1], token, 'PX', ARGV[5])
return {token}`;

/** The scripts by the name of the command that runs them. */
export const SCRIPTS = {
  ringfenceTakeTokens: { lua: TAKE_TOKENS, numberOfKeys: 1 },
  ringfenceIncrement: { lua: INCREMENT, numberOfKeys: 1 },
  ringfencePutBlob: { lua: PUT_BLOB, numberOfKeys: 5 },
  ringfenceGetBlob: { lua: GET_BLOB, numberOfKeys: 4 },
  ringfenceListBlobs: { lua: LIST_BLOBS, numberOfKeys: 3 },
  ringfenceDeleteBlob: { lua: DELETE_BLOB, numberOfKeys: 3 },
  ringfenceDeleteOwner: { lua: DELETE_OWNER, numberOfKeys: 4 },
  ringfenceAcquireLease: { lua: ACQUIRE_LEASE, numberOfKeys: 5 },
  ringfenceRenewLease: { lua: RENEW_LEASE, numberOfKeys: 1 },
  ringfenceReleaseLease: { lua: RELEASE_LEASE, numberOfKeys: 3 },
  ringfenceHandOnLease: { lua: HAND_ON_LEASE, numberOfKeys: 4 },
} as const;

/** The name of a script. */
export type ScriptName = keyof typeof SCRIPTS;
