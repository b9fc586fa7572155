package config

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/config/syntax"
)

// replaceInBase returns the base with one piece of it replaced.
func replaceInBase(piece, instead string) string {
	if strings.Count(base, piece) != 1 {
		panic("base does not contain exactly one " + piece)
	}
	return strings.Replace(base, piece, instead, 1)
}

// baseWithBuyer returns the base with more keys of the first buyer.
func baseWithBuyer(keys string) string {
	return replaceInBase(`endpoint: "https://a.example"}`, `endpoint: "https://a.example", `+keys+"} # here")
}

func baseWithFilterSet(keys string) string {
	return replaceInBase("{buyer: buy_a}", "{buyer: buy_a, "+keys+"}")
}

func TestInvalidSettings(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"tenant", "tenant: a/b\n", "tenant", "is not an id"},
		{"public url without a scheme", "public_url: leads.example.com\n", "public_url", "is not an address"},
		{"public url of another scheme", "public_url: ftp://leads.example.com\n", "public_url", "is not an address"},
		{"public url with a quote", "public_url: \"https://leads.example.com/'x\"\n", "public_url", "is not an address"},
		{"public url with a query", "public_url: https://leads.example.com/?a=1\n", "public_url", "a query or a fragment"},
		{"public url with a user", "public_url: https://me:pass@leads.example.com\n", "public_url", "has a user"},
		{"console's url without a scheme", "admin: {public_url: console.example.com}\n", "admin.public_url", "is not an address"},
		{"console's url of another scheme", "admin: {public_url: \"ws://console.example.com\"}\n", "admin.public_url", "is not an address"},
		{"console's url without a host", "admin: {public_url: \"https://\"}\n", "admin.public_url", "is not an address"},
		{"console's url with a path", "admin: {public_url: https://example.com/console}\n", "admin.public_url", "a path"},
		{"console's url with a query", "admin: {public_url: \"https://example.com/?\"}\n", "admin.public_url", "a query"},
		{"console's url with a fragment", "admin: {public_url: \"https://example.com/#/\"}\n", "admin.public_url", "a fragment"},
		{"console's url with a user", "admin: {public_url: \"https://me@example.com\"}\n", "admin.public_url", "has a user"},
		{"zone of the reports", "time_zone: Mars/Olympus\n", "time_zone", "is not a time zone"},
		{"no port", "listen: localhost\n", "listen", "host:port"},
		{"a port by name", "listen: localhost:http\n", "listen", "host:port"},
		{"one address for both", "listen: a:1\nadmin: {listen: a:1}\n", "admin.listen", "same address"},
		{"history shorter than idempotency", "idempotency: 30d\nhistory: 29d\n", "history", "shorter than idempotency (30d)"},
		{"OIDC without a client id", "admin: {oidc: {issuer: \"https://id.example\", default_role: viewer}}\n", "admin.oidc.client_id", "is missing"},
		{"OIDC provider by plain http", "admin: {oidc: {issuer: \"http://8.8.8.8\", client_id: a, default_role: viewer}}\n", "admin.oidc.issuer", "plain http outside trusted_networks"},
		{"OIDC without any role", "admin: {oidc: {issuer: \"https://id.example\", client_id: a, }}\n", "admin.oidc.roles", "gives no role"},
		{"OIDC with an unknown role", "admin: {oidc: {issuer: \"https://id.example\", client_id: a, roles: {map: {ops: chief}}}}\n", "admin.oidc.roles.map", "does not exist"},
		{"OIDC roles as a list", "admin: {oidc: {issuer: \"https://id.example\", client_id: a, roles: {map: [ops]}}}\n", "admin.oidc.roles.map", "expected a mapping"},
		{"OIDC without the scope openid", "admin: {oidc: {issuer: \"https://id.example\", client_id: a, default_role: viewer, scopes: [email]}}\n", "admin.oidc.scopes", "lacks openid"},
		{"OIDC with an address as domain", "admin: {oidc: {issuer: \"https://id.example\", client_id: a, default_role: viewer, allowed_domains: [a@b.example]}}\n", "admin.oidc.allowed_domains[0]", "is not a domain"},
		{"network", "trusted_networks: [10.0.0.0/33]\n", "trusted_networks[0]", "is not a network"},
		{"network with host bits", "trusted_networks: [10.0.0.1/8]\n", "trusted_networks[0]", "has bits after the network's prefix"},
		{"proxy by name", "trusted_proxies: [proxy.example]\n", "trusted_proxies[0]", "is not a network"},
		{"header", "limits: {body: 400KiB, header: 2MiB}\n", "limits.header", "1KiB to 1MiB"},
		{"body larger than a log entry", "limits: {body: 409601}\n", "limits.body", "an entry is at most 1MiB; give 1KiB to 400KiB"},
		{"body", "limits: {body: 1000}\n", "limits.body", "1KiB to 400KiB"},
		{"connections", "limits: {connections: 0}\n", "limits.connections", "1 to 1000000"},
		{"webhooks in flight", "webhooks: {in_flight: 65}\n", "webhooks.in_flight", "1 to 64"},
		{"a report kept for an hour", "report: {keep: 1h}\n", "report.keep", "0s"},
		{"a report kept for twenty years", "report: {keep: 7300d}\n", "report.keep", "3650d"},
		{"no webhooks in flight", "webhooks: {in_flight: 0}\n", "webhooks.in_flight", "1 to 64"},
		{"traces without an endpoint", "traces: {sample: 1}\n", "traces.endpoint", "is missing"},
		{"traces with another scheme", "traces: {endpoint: \"grpc://127.0.0.1:4317\"}\n", "traces.endpoint", "has a scheme other than https and http"},
		{"traces to an address with a query", "traces: {endpoint: \"https://collector.example/?key=1\"}\n", "traces.endpoint", "has a query (?…), but a path is added to the address"},
		{"a sample above 1", "traces: {endpoint: \"http://127.0.0.1:4318\", sample: 1.5}\n", "traces.sample", "0 to 1"},
		{"a header without a value", "traces: {endpoint: \"http://127.0.0.1:4318\", headers: [{name: authorization}]}\n", "traces.headers[0].value", "is missing"},
		{"a header value in two lines", "traces: {endpoint: \"http://127.0.0.1:4318\", headers: [{name: authorization, value: \"a\\r\\nb\"}]}\n", "traces.headers[0].value", "one line"},
		{"a header twice", "traces: {endpoint: \"http://127.0.0.1:4318\", headers: [{name: x-a, value: b}, {name: X-A, value: c}]}\n", "traces.headers[1].name", "is the same as"},
		{"a header that the exchange sets", "traces: {endpoint: \"http://127.0.0.1:4318\", headers: [{name: Content-Type, value: b}]}\n", "traces.headers[0].name", "is a header that the exchange sets"},
		{"token lifetime", "token_lifetime: 1s\n", "token_lifetime", "1m to 30d"},
	})
}

func TestInvalidSuppliers(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"no id", "suppliers:\n  - {name: x}\n", "suppliers[0].id", "is missing"},
		{"long id", "suppliers:\n  - {id: " + strings.Repeat("x", 65) + "}\n", "suppliers[0].id", "is not an id"},
		{"same id", "suppliers:\n  - {id: a}\n  - {id: a}\n", "suppliers[1].id", "unique"},
		{"no rate", "suppliers:\n  - {id: a, ingest_rate: 0}\n", "suppliers[0].ingest_rate", "1 to 1000000"},
		{"byte_rate below limits.body", "limits: {body: 100KiB}\nsuppliers:\n  - {id: a, byte_rate: 65536}\n", "suppliers[0].byte_rate", "100KiB to 1024MiB"},
		{"byte_rate too large", "suppliers:\n  - {id: a, byte_rate: 1025MiB}\n", "suppliers[0].byte_rate", "64KiB to 1024MiB"},
		{"same key", "suppliers:\n  - {id: a, api_key: hunter2}\n  - {id: b, api_key: hunter2}\n", "suppliers[1].api_key", "same as suppliers[0].api_key"},
		{"client without id", "suppliers:\n  - {id: a, oauth_clients: [{client_secret: x}]}\n", "suppliers[0].oauth_clients[0].client_id", "is missing"},
		{"client with a colon", "suppliers:\n  - {id: a, oauth_clients: [{client_id: \"a:b\", client_secret: x}]}\n", "suppliers[0].oauth_clients[0].client_id", "no colon"},
		{"client without secret", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x}]}\n", "suppliers[0].oauth_clients[0].client_secret", "is missing"},
		{"same client", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: x}]}\nbuyers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: y}]}\n", "buyers[0].oauth_clients[0].client_id", "same as suppliers[0]"},
		{"unknown scope", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: x, scopes: [pong]}]}\n", "suppliers[0].oauth_clients[0].scopes[0]", "use ping, post, webhook"},
		{"scope twice", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: x, scopes: [ping, ping]}]}\n", "suppliers[0].oauth_clients[0].scopes[1]", "remove one of them"},
		{"token outside a sandbox", "suppliers:\n  - {id: a, bearer_tokens: [{token: x}]}\n", "suppliers[0].bearer_tokens", "sandbox: true"},
		{"token twice", "sandbox: true\nsuppliers:\n  - {id: a, bearer_tokens: [{token: x}, {token: x}]}\n", "suppliers[0].bearer_tokens[1].token", "same as"},
		{"webhook without address", "suppliers:\n  - {id: a, webhook: {secret: whsec_aGk=}}\n", "suppliers[0].webhook.url", "is missing"},
		{"webhook secret", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: hunter2}}\n", "suppliers[0].webhook.secret", "whsec_"},
	})
}

func TestInvalidBuyers(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"same id", "buyers:\n  - {id: a}\n  - {id: a}\n", "buyers[1].id", "unique"},
		{"scheme", "buyers:\n  - {id: a, endpoint: \"ftp://a.example\"}\n", "buyers[0].endpoint", "has a scheme other than https and http"},
		{"no host", "buyers:\n  - {id: a, endpoint: \"https:///x\"}\n", "buyers[0].endpoint", "is not an address"},
		{"user in the address", "buyers:\n  - {id: a, endpoint: \"https://u:hunter2@a.example\"}\n", "buyers[0].endpoint", "under auth"},
		{"fragment", "buyers:\n  - {id: a, endpoint: \"https://a.example/#x\"}\n", "buyers[0].endpoint", "fragment"},
		{"query", "buyers:\n  - {id: a, endpoint: \"https://a.example/?k=hunter2\"}\n", "buyers[0].endpoint", "query"},
		{"plain http", "buyers:\n  - {id: a, endpoint: \"http://10.0.0.1\"}\n", "buyers[0].endpoint", "trusted_networks"},
		{"plain http, IPv6", "buyers:\n  - {id: a, endpoint: \"http://[::1]:80\"}\n", "buyers[0].endpoint", "trusted_networks"},
		{"plain http, mapped", "trusted_networks: [10.0.0.0/8]\nbuyers:\n  - {id: a, endpoint: \"http://[::ffff:11.0.0.1]\"}\n", "buyers[0].endpoint", "trusted_networks"},
		{"plain http, mapped from outside", "trusted_networks: [\"::/0\"]\nbuyers:\n  - {id: a, endpoint: \"http://[::ffff:11.0.0.1]\"}\n", "buyers[0].endpoint", "trusted_networks"},
		{"endpoint and post_url", baseWithBuyer(`post_url: "https://a.example"`), "buyers[0].post_url", "conflicts with endpoint, which gives both addresses"},
		{"ping_url alone", "buyers:\n  - {id: a, ping_url: \"https://a.example\"}\n", "buyers[0].ping_url", "needs post_url too"},
		{"auth without endpoint", "buyers:\n  - {id: a, auth: {bearer: x}}\n", "buyers[0].auth", "no endpoint"},
		{"oauth with a secret of two lines", baseWithBuyer(`auth: {oauth: {token_url: "https://a.example", client_id: x, client_secret: "hunter2\n"}}`), "buyers[0].auth.oauth.client_secret", "one line"},
		{"oauth with scopes of two lines", baseWithBuyer(`auth: {oauth: {token_url: "https://a.example", client_id: x, client_secret: y, scope: "a\nb"}}`), "buyers[0].auth.oauth.scope", "is not a list of scopes"},
		{"oauth with a bad address", baseWithBuyer(`auth: {oauth: {token_url: "ftp://a.example", client_id: x, client_secret: y}}`), "buyers[0].auth.oauth.token_url", "has a scheme other than https and http"},
		{"test endpoint and test_post_url", baseWithBuyer(`test_endpoint: "https://a.example", test_post_url: "https://a.example"`), "buyers[0].test_post_url", "conflicts with test_endpoint, which gives both addresses"},
		{"test_ping_url alone", baseWithBuyer(`test_ping_url: "https://a.example"`), "buyers[0].test_ping_url", "needs test_post_url too"},
		{"query of a test endpoint", baseWithBuyer(`test_endpoint: "https://a.example?x=1"`), "buyers[0].test_endpoint", "has a query"},
		{"test_post_url", baseWithBuyer(`test_post_url: "ftp://a.example"`), "buyers[0].test_post_url", "has a scheme other than https and http"},
		{"auth in a header that the exchange sets", baseWithBuyer("auth: {api_key: x, header: X-Pingpost-Test}"), "buyers[0].auth.header", "is a header that the exchange sets"},
		{"test endpoint", baseWithBuyer(`test_endpoint: "http://10.0.0.1"`), "buyers[0].test_endpoint", "trusted_networks"},
		{"no form of auth", baseWithBuyer("auth: {}"), "buyers[0].auth", "exactly one"},
		{"two forms of auth", baseWithBuyer("auth: {bearer: x, api_key: y}"), "buyers[0].auth", "exactly one"},
		{"header with bearer", baseWithBuyer("auth: {bearer: x, header: y}"), "buyers[0].auth.header", "is only for api_key"},
		{"auth in the Content-Type header", baseWithBuyer("auth: {api_key: x, header: Content-Type}"), "buyers[0].auth.header", "is a header that the exchange sets"},
		{"invalid header name", baseWithBuyer("auth: {api_key: x, header: \"a b\"}"), "buyers[0].auth.header", "header's name"},
		{"token with a line break", baseWithBuyer(`auth: {bearer: "hunter2\n"}`), "buyers[0].auth.bearer", "cannot be sent in a header"},
		{"oauth without address", baseWithBuyer("auth: {oauth: {client_id: x, client_secret: y}}"), "buyers[0].auth.oauth.token_url", "is missing"},
		{"oauth without client", baseWithBuyer("auth: {oauth: {token_url: \"https://a.example\", client_secret: y}}"), "buyers[0].auth.oauth.client_id", "is missing"},
		{"oauth without secret", baseWithBuyer("auth: {oauth: {token_url: \"https://a.example\", client_id: x}}"), "buyers[0].auth.oauth.client_secret", "is missing"},
		{"state", baseWithBuyer("states: [CA, California]"), "buyers[0].states[1]", "is not a US state"},
		{"state twice", baseWithBuyer("states: [CA, CA]"), "buyers[0].states[1]", "twice"},
		{"zone", baseWithBuyer("time_zone: Mars/Olympus"), "buyers[0].time_zone", "is not a time zone"},
		{"local zone", baseWithBuyer("time_zone: Local"), "buyers[0].time_zone", "is not a time zone"},
		{"schedule's zone", baseWithBuyer("schedule: {time_zone: PST8, open: [\"Mon 08:00-09:00\"]}"), "buyers[0].schedule.time_zone", "is not a time zone"},
		{"empty schedule", baseWithBuyer("schedule: {open: []}"), "buyers[0].schedule.open", "no opening hours"},
		{"a schedule without hours and days", baseWithBuyer("schedule: {closed_on: []}"), "buyers[0].schedule.open", "no opening hours"},
		{"a date that does not exist", baseWithBuyer("schedule: {closed_on: [\"12-25\", 2026-02-29]}"), "buyers[0].schedule.closed_on[1]", "write a date that exists, such as 2026-12-25"},
		{"a day that exists in no year", baseWithFilterSet("schedule: {open: [\"Mon 08:00-09:00\"], closed_on: [\"02-30\"]}"), "campaigns[0].buyers[0].schedule.closed_on[0]", "is not a date"},
		{"a date in two forms", baseWithBuyer("schedule: {closed_on: [\"25.12.2026\"]}"), "buyers[0].schedule.closed_on[0]", "is not a date"},
		{"a date twice", baseWithBuyer("schedule: {closed_on: [\"12-25\", \"12-25\"]}"), "buyers[0].schedule.closed_on[1]", "is the same as buyers[0].schedule.closed_on[0]"},
		{"the campaign's hours", base + "    schedule: {open: [\"Mon 08:00\"]}\n", "campaigns[0].schedule.open[0]", "is not a time range"},
		{"a modifier without hours", baseWithFilterSet("modifiers: [{caps: 0}]"), "campaigns[0].buyers[0].modifiers[0].during", "lists no hours"},
		{"a modifier's hours", baseWithFilterSet("modifiers: [{during: [\"Mon\"], caps: 0}]"), "campaigns[0].buyers[0].modifiers[0].during[0]", "write days and hours"},
		{"a modifier's zone", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"], time_zone: PST8, caps: 0}]"), "campaigns[0].buyers[0].modifiers[0].time_zone", "is not a time zone"},
		{"a modifier without factors", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"]}]"), "campaigns[0].buyers[0].modifiers[0]", "changes nothing; give a factor as price or caps"},
		{"a factor over 100", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"], caps: 100.000001}]"), "campaigns[0].buyers[0].modifiers[0].caps", "is over 100; give a factor from 0 to 100"},
		{"a negative factor", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"], caps: -1}]"), "campaigns[0].buyers[0].modifiers[0].caps", "give 0 or more"},
		{"a factor with seven decimals", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"], caps: 0.1234567}]"), "campaigns[0].buyers[0].modifiers[0].caps", "at most six decimals"},
		{"a factor as text", baseWithFilterSet("modifiers: [{during: [\"Mon 08:00-09:00\"], caps: half}]"), "campaigns[0].buyers[0].modifiers[0].caps", "a factor from 0 to 100"},
		{"too many modifiers", baseWithFilterSet("modifiers: [" + strings.Repeat("{during: [\"Mon 08:00-09:00\"], caps: 0}, ", 51) + "]"), "campaigns[0].buyers[0].modifiers", "at most 50"},
		{"opening hours", baseWithBuyer("schedule: {open: [\"Mon 08:00-09:00\", \"Mondays\"]}"), "buyers[0].schedule.open[1]", "Mondays"},
		{"cap without limit", baseWithBuyer("caps: [{per: day}]"), "buyers[0].caps[0]", "has no limit"},
		{"cap with two limits", baseWithBuyer("caps: [{per: day, count: 1, money: 1}]"), "buyers[0].caps[0].money", "not both"},
		{"cap without period", baseWithBuyer("caps: [{count: 1}]"), "buyers[0].caps[0].per", "use hour, day"},
		{"cap twice", baseWithBuyer("caps: [{per: day, count: 1}, {per: day, count: 2, time_zone: UTC}]"), "buyers[0].caps[1]", "limits the same unit and period as buyers[0].caps[0]"},
		{"negative cap", baseWithBuyer("caps: [{per: day, count: -1}]"), "buyers[0].caps[0].count", "0 to"},
		{"unknown list", baseWithBuyer("suppression: [nope]"), "buyers[0].suppression[0]", `no suppression list "nope"`},
		{"list twice", baseWithBuyer("suppression: [dnc, dnc]"), "buyers[0].suppression[1]", "remove one of them"},
		{"idempotent without posts", "buyers:\n  - {id: buy_a, idempotent: true} # here\n", "buyers[0].idempotent", "is about posts, but the buyer has no endpoint for them"},
		{"post timeout", baseWithBuyer("post_timeout: 0s"), "buyers[0].post_timeout", "100ms to 5m"},
		{"filter without field", baseWithBuyer("filters: [{min: 1}]"), "buyers[0].filters[0].field", "is missing"},
		{"filter without a condition", baseWithBuyer("filters: [{field: state}]"), "buyers[0].filters[0]", "no condition"},
		{"prefix that is a list", baseWithBuyer("filters: [{field: zip, prefix: [[1]]}]"), "buyers[0].filters[0].prefix[0]", "expected a value"},
		{"distance without a unit", baseWithBuyer("filters: [{field: zip, near: {zip: 75201}}]"), "buyers[0].filters[0]", "give either miles or km"},
		{"distance from post boxes", baseWithBuyer("filters: [{field: zip, near: {zip: 75221, km: 5}}]"), "buyers[0].filters[0]", `the location of the ZIP code "75221" is unknown`},
		{"unknown unit", baseWithBuyer("filters: [{field: zip, near: {zip: 75201, meters: 5}}]"), "buyers[0].filters[0].near.meters", "unknown key; use one of km, miles, zip"},
		{"pattern with a mistake", baseWithBuyer("filters: [{field: city, matches: '('}]"), "buyers[0].filters[0]", "matches: the pattern is not an RE2"},
		{"age of a text", baseWithBuyer("filters: [{field: city, min_age: 18}]"), "buyers[0].filters[0]", `in campaign "cmp": from, until, min_age and max_age are for dates`},
		{"age with a fraction", baseWithBuyer("filters: [{field: city, min_age: 17.5}]"), "buyers[0].filters[0].min_age", "expected a whole number"},
		{"dates in the wrong order", baseWithBuyer("filters: [{field: city, from: 2020-01-02, until: 2020-01-01}]"), "buyers[0].filters[0]", "from is later than until"},
		{"buyer's filter that excludes its own values", baseWithBuyer("filters: [{field: city, in: [a], not_in: [a]}]"), "buyers[0].filters[0]", "has conditions that exclude each other, so no lead could pass; remove one, or change its values"},
		{"filter of the wrong kind", baseWithBuyer("filters: [{field: city, min: 1}]"), "buyers[0].filters[0]", `in campaign "cmp": min and max are for numbers`},
	})
}

func TestInvalidSuppressionLists(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"same id", replaceInBase("{id: dnc, field: phone}", "{id: dnc, field: phone}\n  - {id: dnc, field: email} # here"), "suppression_lists[1].id", "unique"},
		{"field", "suppression_lists:\n  - {id: a, field: fax}\n", "suppression_lists[0].field", "use phone or email"},
		{"hash", "suppression_lists:\n  - {id: a, field: email, hash: crc}\n", "suppression_lists[0].hash", "use plain, md5 or sha256"},
	})
}

func TestInvalidCampaigns(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"same id", base + "  - {id: cmp, method: weighted}\n", "campaigns[1].id", "unique"},
		{"no method", base + "  - {id: b}\n", "campaigns[1].method", "use waterfall"},
		{"no vertical", base + "  - {id: b, method: ping_post}\n", "campaigns[1].vertical", "is missing"},
		{"supplier", base + "    suppliers: [nope]\n", "campaigns[0].suppliers[0]", `no supplier "nope"`},
		{"supplier twice", base + "    suppliers: [sup_a, sup_a]\n", "campaigns[0].suppliers[1]", "remove one of them"},
		{"currency", base + "    currency: usd\n", "campaigns[0].currency", "is not a currency"},
		{"long name", base + "    name: " + strings.Repeat("x", 201) + "\n", "campaigns[0].name", "is longer than 200 bytes"},
		{"name in two lines", base + "    name: \"a\\nb\"\n", "campaigns[0].name", "cannot be printed"},
		{"empty consent source", base + "    consent_required_sources: ['']\n", "campaigns[0].consent_required_sources[0]", "is empty"},
		{"empty reason", base + "    returns: {reasons: ['']}\n", "campaigns[0].returns.reasons[0]", "is empty"},
		{"reason twice", base + "    returns: {reasons: [a, a]}\n", "campaigns[0].returns.reasons[1]", "remove one of them"},
		{"zone", base + "    time_zone: EST5EDT4\n", "campaigns[0].time_zone", "is not a time zone"},
		{"bid timeout", base + "    bid_timeout: 1999ms\n", "campaigns[0].bid_timeout", "2s to 5s"},
		{"post reserve", base + "    post_reserve: 5s\n", "campaigns[0].post_reserve", "100ms to 4s"},
		{"ping reserve", base + "    ping_reserve: 99ms\n", "campaigns[0].ping_reserve", "100ms to 4s"},
		{"payout", base + "    payout: {share: 0.5, fixed: 1}\n", "campaigns[0].payout", "not both"},
		{"consent source twice", base + "    consent_required_sources: [x, x]\n", "campaigns[0].consent_required_sources[1]", "remove one of them"},
		{"duplicates' field", base + "    duplicates: {fields: [name]}\n", "campaigns[0].duplicates.fields[0]", "use phone, email"},
		{"duplicates' match", base + "    duplicates: {match: some}\n", "campaigns[0].duplicates.match", "use any, all"},
		{"duplicates' scope", base + "    duplicates: {scope: all}\n", "campaigns[0].duplicates.scope", "use campaign, buyer"},
		{"approval", base + "    returns: {approval: maybe}\n", "campaigns[0].returns.approval", "use auto, manual"},
		{"window of returns", base + "    returns: {window: 366d}\n", "campaigns[0].returns.window", "to 365d"},
		{"unknown", base + "    unknown: ignore\n", "campaigns[0].unknown", "drop, keep or reject"},
		{"field's type", base + "    fields: [{name: x, type: colour}]\n", "campaigns[0].fields[0].type", "is not a field type"},
		{"field without type", base + "    fields: [{name: x}]\n", "campaigns[0].fields[0].type", "needs a type"},
		{"field's pattern", base + "    fields: [{name: x, type: string}, {name: y, type: string, pattern: \"(\"}]\n", "campaigns[0].fields[1].pattern", ""},
		{"field's transform", base + "    fields: [{name: x, type: string, transform: [trim, rot13]}]\n", "campaigns[0].fields[0].transform[1]", "rot13"},
		{"field's bounds", base + "    fields: [{name: x, type: integer, min: 2, max: 1}]\n", "campaigns[0].fields[0].max", "less than min"},
		{"field's default", base + "    fields: [{name: x, type: integer, default: two}]\n", "campaigns[0].fields[0].default", ""},
		{"filter that excludes its own values", base + "    filters: [{field: zip, in: [10001, 10002], prefix: [752]}]\n", "campaigns[0].filters[0]", "has conditions that exclude each other"},
		{"filter's field", base + "    filters: [{field: nope, in: [1]}]\n", "campaigns[0].filters[0].field", `"nope"`},
		{"filter by the arrival name", base + "    fields: [{name: a, to: b, type: string}]\n    filters: [{field: a, in: [1]}]\n", "campaigns[0].filters[0].field", "after mapping"},
		{"overlap", base + "  - {id: b, method: ping_post, vertical: auto}\n", "campaigns[1]", "overlaps with campaigns[0]"},
		{"overlap of one supplier", replaceInBase("vertical: auto", "vertical: auto\n    suppliers: [sup_b, sup_a]") + "  - {id: b, method: ping_post, vertical: auto, suppliers: [sup_a]}\n", "campaigns[1]", "overlaps"},
	})
}

func TestInvalidFilterSets(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"buyer", replaceInBase("{buyer: buy_a}", "{buyer: nope}"), "campaigns[0].buyers[0].buyer", `no buyer "nope"`},
		{"buyer twice", replaceInBase("{buyer: buy_a}", "{buyer: buy_a}, {buyer: buy_a}"), "campaigns[0].buyers[1].buyer", "give this one an id, or remove one of them"},
		{"two filter sets with one id", replaceInBase("{buyer: buy_a}", "{buyer: buy_a, id: tx}, {buyer: buy_a}, {buyer: buy_a, id: tx}"), "campaigns[0].buyers[2].id", "need different ids"},
		{"id of a filter set", baseWithFilterSet("id: a/b"), "campaigns[0].buyers[0].id", ""},
		{"filter without field", baseWithFilterSet("filters: [{in: [1]}]"), "campaigns[0].buyers[0].filters[0].field", "is missing"},
		{"filter of the wrong kind", baseWithFilterSet("filters: [{field: city, max: 1}]"), "campaigns[0].buyers[0].filters[0]", "are for numbers"},
		{"filter of a boolean", baseWithFilterSet("filters: [{field: tcpa_consent, in: [yes]}]"), "campaigns[0].buyers[0].filters[0]", "true or false"},
		{"unknown state", baseWithFilterSet("states: [XX]"), "campaigns[0].buyers[0].states[0]", "is not a US state"},
		{"priority", baseWithFilterSet("priority: -1"), "campaigns[0].buyers[0].priority", "0 to"},
		{"weight", baseWithFilterSet("weight: 0"), "campaigns[0].buyers[0].weight", "1 to"},
		{"price", baseWithFilterSet("price: -1"), "campaigns[0].buyers[0].price", "negative"},
		{"cap", baseWithFilterSet("caps: [{per: year, count: 1}]"), "campaigns[0].buyers[0].caps[0].per", "use hour"},
		{"no endpoint to ping", strings.Replace(base, `endpoint: "https://a.example"`, `post_url: "https://a.example"`, 1), "campaigns[0].buyers[0].buyer", "buyer \"buy_a\" has no endpoint or ping_url and cannot bid"},
		{
			"no state in common",
			strings.Replace(baseWithFilterSet("states: [NV]"), `"https://a.example"`, `"https://a.example", states: [CA]`, 1),
			"campaigns[0].buyers[0].states", "only narrow",
		},
		{
			"buyer's filter on a missing field",
			strings.Replace(base, `"https://a.example"`, `"https://a.example", filters: [{field: cars, min: 1}]`, 1),
			"campaigns[0].buyers[0].buyer", `filters on "cars"`,
		},
		{
			"two currencies of a funded buyer",
			strings.Replace(base, `"https://a.example"`, `"https://a.example", funds: {}`, 1) + "  - {id: b, method: weighted, currency: EUR, buyers: [{buyer: buy_a}]}\n",
			"campaigns[1].buyers[0].buyer", "two currencies",
		},
	})
}

func TestAllProblemsAreReported(t *testing.T) {
	text := `listen: nowhere
tenant: 7
suppliers:
  - {id: sup_a, ping_rate: fast}
  - {id: sup_a, api_key: "${NOT_SET}"}
buyers:
  - {id: [], name: x}
campaigns:
  - id: cmp
    method: waterfall
    floor: 8,00
    flor: 8
    bid_timeout: 9s
    suppliers: [nope]
    buyers: [{buyer: buy_x, weight: 0}]
`
	want := []string{
		"listen", "tenant", "suppliers[0].ping_rate", "suppliers[1].id", "suppliers[1].api_key", "buyers[0].id",
		"campaigns[0].floor", "campaigns[0].flor", "campaigns[0].bid_timeout", "campaigns[0].buyers[0].weight",
	}
	var got []string
	for _, problem := range compileProblems(t, text) {
		got = append(got, problem.Path)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProblemsText(t *testing.T) {
	problems := compileProblems(t, "tenant: a/b\nlisten: nowhere\n")
	want := "exchange.yaml:1:9: tenant: is not an id; use 1 to 64 letters, digits, _, - or .\n" +
		"exchange.yaml:2:9: listen: is not an address to listen on; write host:port, such as 127.0.0.1:8080 or [::1]:8080"
	if problems.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", problems.Error(), want)
	}
	many := make(syntax.Problems, syntax.ShownProblems+7)
	if text := many.Error(); !strings.HasSuffix(text, "and 7 more") {
		t.Errorf("the text of many problems ends with %q", text[len(text)-20:])
	}
}

func TestValidDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"an empty mapping":                   "{}",
		"keys without values":                "suppliers:\nadmin:\nlimits:\n",
		"plain http inside trusted networks": "trusted_networks: [10.0.0.0/8]\nbuyers:\n  - {id: a, endpoint: \"http://10.1.2.3:80\"}\n",
		"plain http, mapped":                 "trusted_networks: [10.0.0.0/8]\nbuyers:\n  - {id: a, endpoint: \"http://[::ffff:10.0.0.1]\"}\n",
		"plain http to a name":               "trusted_networks: [127.0.0.0/8]\nbuyers:\n  - {id: a, endpoint: \"http://localhost:80\"}\n",
		"a network of one address":           "trusted_proxies: [10.0.0.1, \"::1\"]\n",
		"the same vertical, paused":          base + "  - {id: b, method: ping_post, vertical: auto, paused: true}\n",
		"the same vertical, another method":  base + "  - {id: b, method: weighted, vertical: auto}\n",
		"the same vertical, another part":    base + "  - {id: b, method: ping_post, vertical: auto, sub_vertical: x}\n",
		"a buyer without an endpoint":        base + "  - {id: b, method: weighted, buyers: [{buyer: buy_b}]}\n",
		"a cap of 0":                         baseWithBuyer("caps: [{per: total, count: 0}]"),
		"duplicates turned off":              base + "    duplicates: {window: 0}\n",
		"a token in a sandbox":               "sandbox: true\nsuppliers:\n  - {id: a, bearer_tokens: [{token: x}]}\n",
		"a number from the environment":      "suppliers:\n  - {id: a, ping_rate: \"${RATE}\"}\n",
		"a document marker":                  "---\ntenant: x\n...\n",
		"CRLF":                               strings.ReplaceAll(base, "\n", "\r\n"),
		"a byte order mark":                  "\uFEFF" + base,
	} {
		if problems := compileProblems(t, text); problems != nil {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestAuctionBuyerLimit(t *testing.T) {
	text := func(method string, n int) string {
		var buyers, entries strings.Builder
		for i := range n {
			fmt.Fprintf(&buyers, "  - {id: b%d, endpoint: \"https://b%d.example\"}\n", i, i)
			fmt.Fprintf(&entries, "{buyer: b%d, price: 1},", i)
		}
		return "buyers:\n" + buyers.String() + "campaigns:\n  - id: cmp\n    method: " + method +
			"\n    vertical: auto\n    buyers: [" + entries.String() + "]\n"
	}
	for _, row := range []struct {
		method string
		buyers int
		valid  bool
	}{
		{"ping_post", maxBidders, true},
		{"ping_post", maxBidders + 1, false},
		{"waterfall", maxBidders + 1, true},
	} {
		problems := compileProblems(t, text(row.method, row.buyers))
		if row.valid && problems != nil {
			t.Errorf("%s with %d buyers: %v", row.method, row.buyers, problems)
		}
		if !row.valid && (len(problems) != 1 || problems[0].Path != "campaigns[0].buyers") {
			t.Errorf("%s with %d buyers: %v", row.method, row.buyers, problems)
		}
	}
}
