package public

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/fakedata"
	"pingpost/server/httperror"
)

// is reports whether a member equals the value that encoding/json reads.
func is(m market.Member, value any, there bool) bool {
	if !there {
		return m.Kind == 0
	}
	switch value := value.(type) {
	case nil:
		return m.Kind == market.JSONNull
	case bool:
		return m.Kind == market.JSONBoolean && string(m.Text) == strconv.FormatBool(value)
	case string:
		return m.Kind == market.JSONString && string(m.Text) == value
	case json.Number:
		return m.Kind == market.JSONNumber && string(m.Text) == value.String()
	}
	decoder := json.NewDecoder(strings.NewReader(string(m.Text)))
	decoder.UseNumber()
	var got any
	return decoder.Decode(&got) == nil && reflect.DeepEqual(got, value) && m.Kind != market.JSONString
}

// FuzzReports compares parsed reports and batches with encoding/json.
func FuzzReports(f *testing.F) {
	for _, body := range []string{
		`{"status":"returned","reason":"w\u0072ong","occurred_at":null,"lead_id":7}`, `{"changes":[{"lead_id":"a","status":"sold"},5,null,[],"x",{}]}`, `{"changes":{}}`, `{"changes":null}`,
		`{"changes":[{"a":"}],[{\"","status":"\\"} , { } ]}`, `{"changes":[` + strings.Repeat("1,", 1005) + `1]}`, `{}`, `{"changes":[[[]],{"status":{"a":[1]}}]}`, `{"Changes":[1]}`, `{"changes":[ ]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r scratch
		sent, why := strictly(body, false)
		if err := r.object.Parse(body); (err == nil) != (why == "") {
			t.Fatalf("%q: %v, the model: %q", body, err, why)
		} else if err != nil {
			return
		}
		sameReport(t, sent, parseReport(&r.object))
		r.parseReports()
		changes, ok := sent["changes"].([]any)
		if ok != (len(r.status.Faults) == 0) || len(r.status.Reports) != min(len(changes), 1001) {
			t.Fatalf("%q: %d reports of %d, %v", body, len(r.status.Reports), len(changes), r.status.Faults)
		}
		for i, report := range r.status.Reports {
			object, ok := changes[i].(map[string]any)
			if ok == report.NotObject {
				t.Fatalf("report %d is no object: %v", i, report.NotObject)
			}
			sameReport(t, object, report)
		}
	})
}

func sameReport(t *testing.T, sent map[string]any, got any) {
	report := reflect.ValueOf(got)
	for name, field := range map[string]string{"lead_id": "Lead", "status": "Status", "reason": "Reason", "occurred_at": "Occurred"} {
		value, there := sent[name]
		member, _ := report.FieldByName(field).Interface().(market.Member)
		if !is(member, value, there) {
			t.Fatalf("%s of %v is read as %+v", name, sent, member)
		}
	}
}

// exactly is a number of at most 128 bytes as a fraction. An exponent over a thousand
// makes of it what one of a thousand does: zero, no integer, or one too large.
func exactly(number json.Number) *big.Rat {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number.String()), "e")
	if digits := strings.TrimLeft(strings.Trim(exponent, "+-"), "0"); len(digits) > 3 {
		exponent = strings.TrimRight(exponent, "0123456789") + "1000"
	}
	value, _ := new(big.Rat).SetString(mantissa)
	if exponent == "" || value == nil {
		return value
	}
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return nil
	}
	ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil))
	if power < 0 {
		ten.Inv(ten)
	}
	return value.Mul(value, ten)
}

// FuzzSeedOrder compares a parsed seed request with a plain reading of the same members.
func FuzzSeedOrder(f *testing.F) {
	for _, body := range []string{
		`{"count":100,"vertical":"auto","state":"CA"}`, `{"count":1e2,"vertical":" ","state":"ca","seed":-1}`, `{"count":1001,"vertical":5,"state":null}`,
		`{"count":"100","vertical":"a\u0000","state":"ZZ","seed":9223372036854775808,"campaign_id":"cmp"}`, `{}`, `{"count":1000e-1,"seed":-7.0e1,"vertical":"v","state":"CA"}`, `{"count":1e9999999999,"seed":0e99999}`, `{"count":99,"seed":"","campaign_id":" \u2003\u200b"}`, `{"count":-0,"state":["CA"]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r scratch
		sent, why := strictly(body, false)
		if why != "" || r.object.Parse(body) != nil {
			return
		}
		order, faults := readSeedRequest(&r.object)
		want, wrong := plainOrder(sent)
		var fields []string
		for _, fault := range faults {
			fields = append(fields, fault.Field+" "+fault.Code)
		}
		if order != want || !slices.Equal(fields, wrong) {
			t.Fatalf("%q: %+v %q, want %+v %q", body, order, fields, want, wrong)
		}
	})
}

// nothingSeen is Unicode's white space, and what has no width.
const nothingSeen = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000" +
	"\u180e\u200b\u200c\u200d\u2060\ufeff"

func plainOrder(sent map[string]any) (order seedRequest, wrong []string) {
	says := func(name string, required bool) bool {
		text, isText := sent[name].(string)
		there := sent[name] != nil && (!isText || strings.Trim(text, nothingSeen) != "")
		if !there && required {
			wrong = append(wrong, name+" "+errcode.FieldMissingRequired)
		}
		return there
	}
	integer := func(name string, least, most, usual int64, required bool) int64 {
		if !says(name, required) {
			return usual
		}
		number, ok := sent[name].(json.Number)
		exact := exactly(number)
		switch {
		case !ok, !exact.IsInt():
			wrong = append(wrong, name+" "+errcode.FieldWrongType)
		case exact.Cmp(new(big.Rat).SetInt64(least)) < 0, exact.Cmp(new(big.Rat).SetInt64(most)) > 0:
			wrong = append(wrong, name+" "+errcode.FieldOutOfRange)
		default:
			return exact.Num().Int64()
		}
		return 0
	}
	label := func(name string, required bool) string {
		if !says(name, required) {
			return ""
		}
		text, ok := sent[name].(string)
		switch {
		case !ok:
			wrong = append(wrong, name+" "+errcode.FieldWrongType)
		case utf8.RuneCountInString(text) > 255:
			wrong = append(wrong, name+" "+errcode.FieldTooLong)
		case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
			wrong = append(wrong, name+" "+errcode.FieldInvalidFormat)
		default:
			return text
		}
		return ""
	}
	order.Request = fakedata.Request{Count: int(integer("count", 100, 1000, 0, true))}
	order.Vertical = label("vertical", true)
	if says("state", true) {
		text, ok := sent["state"].(string)
		order.State = market.ParseUSState([]byte(text))
		if !ok {
			wrong = append(wrong, "state "+errcode.FieldWrongType)
		} else if order.State == market.NoState {
			wrong = append(wrong, "state "+errcode.FieldInvalidFormat)
		}
	}
	order.Seed = integer("seed", -1<<63, 1<<63-1, 1, false)
	order.campaign = label("campaign_id", false)
	return order, wrong
}

// FuzzTokenBody compares token requests, as JSON and as a form, with a model of the RFC and
// the contract.
func FuzzTokenBody(f *testing.F) {
	const login = `"client_id":"acme","client_secret":"secret-of-acme"`
	for _, body := range []string{
		`{"grant_type":"client_credentials",` + login + `}`, `{"grant_type":"client_credentials",` + login + `,"scope":"ping  post"}`, `{"grant_type":"x",` + login + `}`, `{` + login + `}`,
		`{"grant_type":"client_credentials",` + login + `,"scope":"webhook"}`, `{"grant_type":"client_credentials","client_id":"acme","client_secret":"x"}`, `{"grant_type":5}`, `{"scope":null}`, `[]`, `{"a":1,"a":2}`,
	} {
		f.Add([]byte(body), false)
	}
	for _, body := range []string{
		"grant_type=client_credentials&client_id=acme&client_secret=secret-of-acme&scope=ping+post", "grant_type=client_credentials&client_id=acme&client_secret=secret%2Dof-acme", "scope=a&scope=b", "%zz", "a;b", "",
		strings.Repeat("a=1&", 40), "client_id=acme&client_secret=secret-of-acme&grant_type=",
	} {
		f.Add([]byte(body), true)
	}
	var x fuzzed
	f.Cleanup(x.close)
	f.Fuzz(func(t *testing.T, body []byte, form bool) {
		kind := httperror.TypeJSON
		if form {
			kind = typeForm
		}
		ctx := x.fresh(t).request("/oauth/token", body, "Content-Type", kind)
		var said struct {
			Error, Scope string
			Description  string `json:"error_description"`
			Token        string `json:"access_token"`
			RequestID    string `json:"request_id"`
		}
		if err := json.Unmarshal(ctx.Response.Body(), &said); err != nil {
			t.Fatalf("%q: %s: %v", body, ctx.Response.Body(), err)
		}
		status, code, scope := plainToken(body, form)
		if got := ctx.Response.StatusCode(); got != status || said.Error != code || said.Scope != scope || (said.Token != "") != (status == 200) ||
			status != 200 && (said.RequestID == "" || said.Description == "" && status != 413) {
			t.Fatalf("%q: %d %s, want %d %s %s", body, got, ctx.Response.Body(), status, code, scope)
		}
	})
}
