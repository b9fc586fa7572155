package audit

import (
	"strconv"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/admin/payload"
)

// requestWith returns a request with this body and the variables of its path.
func requestWith(body string, variables ...string) *fasthttp.RequestCtx {
	ctx := new(fasthttp.RequestCtx)
	ctx.SetUserValue(payload.BodyRead, []byte(body))
	for i := 0; i+1 < len(variables); i += 2 {
		ctx.SetUserValue(variables[i], variables[i+1])
	}
	return ctx
}

// A record has only the listed members of a request, and contact data masked.
func TestRecordedRequestValues(t *testing.T) {
	for name, row := range map[string]struct{ operation, body, want string }{
		"a top-up":                {"POST /admin/v1/buyers/{id}/funds", `{"amount":5,"note":"x","other":"canary"}`, `{"amount":5,"note":"x"}`},
		"names in another case":   {"POST /admin/v1/leads/{id}/reveal", `{"REASON":"x"}`, `{"reason":"x"}`},
		"a padded reason":         {"POST /admin/v1/leads/{id}/reveal", `{"reason":"x` + strings.Repeat(" ", 5000) + `"}`, `{"reason":"x"}`},
		"contact in another case": {"POST /admin/v1/erase", `{"Phone":"+1 646 555 0142"}`, `{"phone":"***-***-0142"}`},
		"a secret":                {"PUT /admin/v1/secrets/{name:*}", `{"value":"canary"}`, ``},
		"a password":              {"PUT /admin/v1/users/{name}/password", `{"old":"canary","new":"canary"}`, ``},
		"a new user":              {"PUT /admin/v1/users/{name}", `{"role":"viewer","password":"canary"}`, `{"role":"viewer"}`},
		"an erasure by phone":     {"POST /admin/v1/erase", `{"phone":"+1 646 555 0142"}`, `{"phone":"***-***-0142"}`},
		"an erasure by email":     {"POST /admin/v1/erase", `{"email":"x@canary.example"}`, `{"email":"x***@***"}`},
		"an erasure by lead":      {"POST /admin/v1/erase", `{"lead":"lead_01m8hs8ggtb0s7x4zvpmqzznzx"}`, `{"lead":"lead_01m8hs8ggtb0s7x4zvpmqzznzx"}`},
		"contact data as lead":    {"POST /admin/v1/erase", `{"lead":"+16465550142"}`, `{"lead":"(no lead id)"}`},
		"an email that is a list": {"POST /admin/v1/erase", `{"email":["canary"]}`, `{"email":""}`},
		"not JSON":                {"POST /admin/v1/erase", `canary`, ``},
		"a delivery":              {"POST /admin/v1/deliveries/{lead}/{how}", ``, `{"how":"confirm"}`},
		"a long path":             {"POST /admin/v1/suppliers/{id}/clients/{client}/secrets", ``, `{"client":"` + strings.Repeat("c", maxPathText) + `"}`},
		"an unknown operation":    {"POST /admin/v1/new/{id}", `{"secret":"canary"}`, ``},
	} {
		_, route, _ := strings.Cut(row.operation, " ")
		got := recordedRequestValues(requestWith(row.body, "lead", "lead_x", "how", "confirm", "client", strings.Repeat("c", 1000)), row.operation, variablesOf(route))
		if got != row.want {
			t.Errorf("%s: recorded %s, want %s", name, got, row.want)
		}
	}
}

// Values in records have a limited size.
func TestLongValuesAreShortened(t *testing.T) {
	changes := make([]string, 5000)
	for i := range changes {
		changes[i] = strings.Repeat("x", 100)
	}
	text := EncodeChanges(changes)
	if len(text) > maxChanges+1000 || !strings.HasSuffix(text, `,"omitted":4920}}`) {
		t.Errorf("%d bytes, ending in %s", len(text), text[len(text)-40:])
	}
	long := recordedRequestValues(requestWith(`{"amount":5,"note":"`+strings.Repeat("x", 10_000)+`"}`), "POST /admin/v1/buyers/{id}/funds", nil)
	if want := `{"amount":5,"note":{"first":"` + strings.Repeat("x", maxMember) + `","omitted_bytes":` + strconv.Itoa(10_000-maxMember) + `}}`; long != want {
		t.Errorf("a long note is %s", long)
	}
}

func TestTargetKindOfRoute(t *testing.T) {
	for route, want := range map[string]string{
		"/admin/v1/buyers/{id}/funds": "buyer id", "/admin/v1/config/campaigns/{id}": "campaign id", "/admin/v1/config": "configuration ", "/admin/v1/config/drift": "configuration ",
		"/admin/v1/secrets/{name:*}": "secret name", "/admin/v1/deliveries/{lead}/{how}": "lead lead how", "/admin/v1/webhooks/{id}/dead/{event}/resend": "webhook id event",
		"/admin/v1/erase": "person ", "/admin/v1/new/{x}": "new x", "/admin/v1/suppression/{id}": "suppression_list id", "/admin/v1/session": "session ", "/admin/v1/alerts/rules/{id}": "alert_rule id", "/admin/v1/alerts/channels/{id}/test": "alert_channel id", "/admin/v1/invitations/{invitation}": "invitation invitation",
	} {
		if got := targetKindOf(route) + " " + strings.Join(variablesOf(route), " "); got != want {
			t.Errorf("%s: %q, want %q", route, got, want)
		}
	}
}
