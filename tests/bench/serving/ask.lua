-- One request again and again; the figures as JSON. wrk -s ask.lua URL -- BODY HEADER VALUE HEADER VALUE ...
-- A body with "%d" has a number of its own in each request.
local body
local numbered = false
local asked = 0

function init(args)
  wrk.method = "POST"
  body = args[1]
  for at = 2, #args, 2 do wrk.headers[args[at]] = args[at + 1] end
  numbered = body:find("%%d") ~= nil
  wrk.body = body
  math.randomseed(os.time() + tonumber(tostring({}):match("0x(%x+)"), 16) % 100000)
  asked = math.random(1000000000)
end

function request()
  if not numbered then return wrk.request() end
  asked = asked + 1
  return wrk.format(nil, nil, nil, (body:gsub("%%d", tostring(asked), 1)))
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    'JSON {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"p999":%.3f,"bytes":%d,"failed":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, summary.bytes, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
