package buyer

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

// withPrice leaves only the price to decide between a bid and no bid.
func withPrice(d *market.AdapterProtocol) {
	d.Answer.Accepted, d.Answer.Yes, d.Answer.No, d.Answer.Token = "", "", "", ""
}

func inForm(d *market.AdapterProtocol) {
	d.Answer = market.BuyerAnswerValuePaths{Format: "form", Accepted: "ok", Yes: "1\n", No: "0\n", Price: "price", Currency: "cur", Token: "tok", ID: "id", Reason: "why"}
}

func inXML(d *market.AdapterProtocol) {
	d.Answer = market.BuyerAnswerValuePaths{
		Format: "xml", Accepted: "R/Ok", Yes: "yes\n", No: "no\n", Price: "R/Bid/@price", Currency: "R/Bid/Cur",
		Token: "R/Bid/Tok", ID: "R/Id", Reason: "R/Why",
	}
}

func fromList(d *market.AdapterProtocol) {
	d.Answer = market.BuyerAnswerValuePaths{Format: "json", Price: "bids.1.price", Token: "bids.1.ids.0"}
}

// data returns an answer in the form of newAdapterConfig.
func data(members string) string { return `{"data":{` + members + `}}` }

// The table lists the answers to a ping that a 2xx may contain.
func TestAdapterBids(t *testing.T) {
	rows := []struct {
		name   string
		change func(*market.AdapterProtocol)
		body   string
		want   string
	}{
		{"all fields", nil, data(`"status":"taken","price":12.5,"currency":"USD","token":"t-1"`), "bid 12.5USD t-1"},
		{"values as strings", nil, data(`"status":"TAKEN","price":"12.50","currency":"usd","token":77`), "bid 12.5USD 77"},
		{"yes as a number", nil, data(`"status":1,"price":1,"token":"t"`), "bid 1 t"},
		{"digits past the sixth are cut", nil, data(`"status":1,"price":"0.1234569","token":"t"`), "bid 0.123456 t"},
		{"more digits than a float has", nil, data(`"status":1,"price":"999999.999999","token":"t"`), "bid 999999.999999 t"},
		{"zeros in front", nil, data(`"status":1,"price":" 007.50 ","token":"t"`), "bid 7.5 t"},
		{"no zero in front", nil, data(`"status":1,"price":".5","token":"t"`), "bid 0.5 t"},
		{"no digit after the point", nil, data(`"status":1,"price":"5.","token":"t"`), "bid 5 t"},
		{"the smallest price", nil, data(`"status":1,"price":"0.0000019","token":"t"`), "bid 0.000001 t"},
		{"no, with a reason", nil, data(`"status":"declined","price":12,"why":"STATE_NOT_BOUGHT"`), "no_bid state_not_bought"},
		{"no, with a sentence as reason", nil, data(`"status":"declined","why":"Ann Lee is known to us"`), "no_bid"},
		{"neither yes nor no", nil, data(`"status":"maybe","price":12,"token":"t"`), "invalid malformed data.status"},
		{"no status, but a reason", nil, data(`"why":"closed"`), "no_bid closed"},
		{"an unknown status and a reason", nil, data(`"status":"error","why":"closed"`), "invalid malformed data.status"},
		{"no status", nil, data(`"price":12,"token":"t"`), "invalid malformed data.status"},
		{"a null status", nil, data(`"status":null,"price":12,"token":"t"`), "invalid malformed data.status"},
		{"a status that is an object", nil, data(`"status":{"a":1},"price":12,"token":"t"`), "invalid malformed data.status"},
		{"everything but yes is no", func(d *market.AdapterProtocol) { d.Answer.No = "" }, data(`"status":"whatever","why":"no"`), "no_bid no"},
		{"yes without a price", nil, data(`"status":1,"token":"t"`), "invalid malformed data.price"},
		{"a price in words", nil, data(`"status":1,"price":"$12","token":"t"`), "invalid malformed data.price"},
		{"a price with a comma", nil, data(`"status":1,"price":"12,50","token":"t"`), "invalid malformed data.price"},
		{"a negative price", nil, data(`"status":1,"price":"-1","token":"t"`), "invalid malformed data.price"},
		{"yes with price 0", nil, data(`"status":1,"price":"0.00","token":"t"`), "invalid malformed data.price"},
		{"yes with price -0", nil, data(`"status":1,"price":-0,"token":"t"`), "invalid malformed data.price"},
		{"less than a float can hold", nil, data(`"status":1,"price":1e-400,"token":"t"`), "invalid malformed data.price"},
		{"less than a millionth", nil, data(`"status":1,"price":"0.0000001","token":"t"`), "invalid malformed data.price"},
		{"a point", nil, data(`"status":1,"price":".","token":"t"`), "invalid malformed data.price"},
		{"two points", nil, data(`"status":1,"price":"1.2.3","token":"t"`), "invalid malformed data.price"},
		{"a price over the maximum", nil, data(`"status":1,"price":"1000001","token":"t"`), "invalid malformed data.price"},
		{"a price of true", nil, data(`"status":1,"price":true,"token":"t"`), "invalid malformed data.price"},
		{"an invalid currency", nil, data(`"status":1,"price":1,"currency":"dollars","token":"t"`), "invalid malformed data.currency"},
		{"no token", nil, data(`"status":1,"price":1`), "invalid malformed data.token"},
		{"a token of two lines", nil, data(`"status":1,"price":1,"token":"a\nb"`), "invalid malformed data.token"},
		{"a token too long", nil, data(`"status":1,"price":1,"token":"` + strings.Repeat("t", 513) + `"`), "invalid malformed data.token"},
		{"a list instead of an object", nil, `{"data":[1]}`, "invalid malformed data.status"},
		{"no JSON", nil, "OK", "invalid unreadable"},
		{"JSON with a duplicate member", nil, data(`"status":1,"price":1,"price":9,"token":"t"`), "invalid unreadable"},
		{"price only: a price", withPrice, data(`"price":"3.25"`), "bid 3.25 auc_1"},
		{"price only: no price", withPrice, data(`"why":"capped"`), "no_bid capped"},
		{"price only: zero", withPrice, data(`"price":0`), "no_bid"},
		{"price only: zero as a string", withPrice, data(`"price":"0.00"`), "no_bid"},
		{"price only: less than a millionth", withPrice, data(`"price":"0.0000001"`), "invalid malformed data.price"},
		{"an invalid price", withPrice, data(`"price":"soon"`), "invalid malformed data.price"},
		{"an element of a list", fromList, `{"bids":[{"price":9},{"x":"],{\"","price":4,"ids":["\\\"t",2]}]}`, `bid 4 \"t`},
		{"beyond a list's end", fromList, `{"bids":[{"price":9}]}`, "no_bid"},
		{"an empty list", fromList, `{"bids":[ ]}`, "no_bid"},
		{"a string instead of a list", fromList, `{"bids":"1"}`, "no_bid"},

		{"a form", inForm, "ok=1&price=12.5&tok=a%2Fb&cur=USD&more=%C3%A9\r\n", "bid 12.5USD a/b"},
		{"a form's no", inForm, "ok=0&why=Capped&price=", "no_bid capped"},
		{"a form with a duplicate name", inForm, "ok=1&price=12&price=13&tok=t", "invalid unreadable"},
		{"a form with invalid escapes", inForm, "ok=1&price=%zz", "invalid unreadable"},
		{"HTML instead of a form", inForm, "<html>It works!</html>", "invalid malformed ok"},
		{"an empty form", inForm, "", "invalid malformed ok"},

		{"XML", inXML, `<?xml version="1.0" encoding="UTF-8"?><R xmlns="urn:a"><Ok> Yes </Ok><Bid price="12.5"><Tok><![CDATA[a&b]]></Tok><Cur>usd</Cur></Bid></R>`, "bid 12.5USD a&b"},
		{"XML in Latin-1", inXML, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><R><Ok>yes</Ok><Why>\xe9</Why><Bid price='1'><Tok>&#116;&lt;</Tok></Bid></R>", "bid 1 t<"},
		{"XML's no", inXML, `<R><Ok>no</Ok><Why>Full</Why></R>`, "no_bid full"},
		{"the same names elsewhere", inXML, `<R><Log><Ok>no</Ok></Log><Ok>yes</Ok><Bid price="2"><Old><Tok>x</Tok></Old><Tok>t</Tok></Bid></R>`, "bid 2 t"},
		{"another root", inXML, `<S><Ok>yes</Ok></S>`, "invalid malformed R/Ok"},
		{"XML with a duplicate attribute path", inXML, `<R><Ok>yes</Ok><Bid price="2"><Tok>t</Tok></Bid><Bid price="3"/></R>`, "invalid unreadable"},
		{"a duplicate element", inXML, `<R><Ok>yes</Ok><Ok>no</Ok></R>`, "invalid unreadable"},
		{"a duplicate attribute", inXML, `<R><Ok>yes</Ok><Bid price="2" price="3"><Tok>t</Tok></Bid></R>`, "invalid unreadable"},
		{"an attribute in two namespaces", inXML, `<R xmlns:a="urn:a"><Ok>yes</Ok><Bid a:price="2" price="3"><Tok>t</Tok></Bid></R>`, "invalid unreadable"},
		{"text after the root", inXML, `<R><Ok>no</Ok></R>x`, "invalid unreadable"},
		{"text before the root", inXML, `ok <R><Ok>no</Ok></R>`, "invalid unreadable"},
		{"a byte order mark", inXML, "\ufeff<?xml version=\"1.0\" encoding=\"UTF-8\"?><R><Ok>no</Ok></R>", "no_bid"},
		{"white space around the root", inXML, "\n <R><Ok>no</Ok></R>\r\n\t", "no_bid"},
		{"truncated XML", inXML, `<R><Ok>yes</Ok><Bid price="2"><Tok>t</Tok></Bid>`, "invalid unreadable"},
		{"two roots", inXML, `<R><Ok>no</Ok></R><R/>`, "invalid unreadable"},
		{"no element", inXML, `yes`, "invalid unreadable"},
		{"an internal entity", inXML, `<!DOCTYPE R [<!ENTITY p "9">]><R><Ok>yes</Ok><Bid price="&p;"/></R>`, "invalid unreadable"},
		{"an external entity", inXML, `<!DOCTYPE R SYSTEM "http://evil.example/r.dtd"><R><Ok>no</Ok></R>`, "invalid unreadable"},
		{"an undeclared entity", inXML, `<R><Ok>no</Ok><Why>&nbsp;</Why></R>`, "invalid unreadable"},
		{"too deep", inXML, `<R><Ok>no</Ok>` + strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40) + `</R>`, "invalid unreadable"},
		{"another character set", inXML, `<?xml version="1.0" encoding="UTF-7"?><R><Ok>no</Ok></R>`, "invalid unreadable"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers("200 OK", row.body))
			if got := newClient(t, nil).Ping(pingIn(newAdapterConfig(row.change), buyer.ping())); verdict(got) != row.want || got.Status != 200 {
				t.Errorf("%d %s, want %s", got.Status, verdict(got), row.want)
			}
		})
	}
}

// Statuses outside 2xx mean the same as in the contract.
func TestAdapterStatuses(t *testing.T) {
	bid, yes := data(`"status":1,"price":2,"token":"t"`), data(`"status":1,"id":"b-1"`)
	rows := []struct {
		status, body string
		ping         string
		post         market.BuyerPostResult
	}{
		{"200 OK", bid, "bid 2 t", market.BuyerPostResult{Verdict: accepted}},
		{"202 Accepted", bid, "bid 2 t", market.BuyerPostResult{Verdict: accepted}},
		{"204 No Content", "", "no_bid", market.BuyerPostResult{Verdict: unknown, Fault: market.FaultUnreadable}},
		{"200 OK", big, "invalid too_large", market.BuyerPostResult{Verdict: unknown, Fault: market.FaultTooLarge}},
		{"202 Accepted", big, "invalid too_large", market.BuyerPostResult{Verdict: unknown, Fault: market.FaultTooLarge}},
		{"302 Found", yes, "error", market.BuyerPostResult{Verdict: refused}},
		{"400 Bad Request", data(`"why":"BAD_ZIP"`), "error bad_zip", market.BuyerPostResult{Verdict: refused, Code: "bad_zip", Final: true}},
		{"401 Unauthorized", `no`, "error", market.BuyerPostResult{Verdict: refused}},
		{"404 Not Found", `<html>`, "error", market.BuyerPostResult{Verdict: refused, Final: true}},
		{"408 Request Timeout", yes, "error", market.BuyerPostResult{Verdict: unknown}},
		{"409 Conflict", yes, "error", market.BuyerPostResult{Verdict: refused}},
		{"422 Unprocessable Content", data(`"why":"idempotency_key_reused"`), "error idempotency_key_reused", market.BuyerPostResult{Verdict: refused, Code: "idempotency_key_reused"}},
		{"429 Too Many Requests", data(`"why":"slow"`), "rate_limited 1s", market.BuyerPostResult{Verdict: market.VerdictBusy, Code: "slow", RetryAfter: time.Second}},
		{"500 Internal Server Error", yes, "error", market.BuyerPostResult{Verdict: unknown}},
	}
	for _, row := range rows {
		t.Run(row.status, func(t *testing.T) {
			buyer := listen(t, answers(row.status, row.body))
			client := newClient(t, nil)
			if got := verdict(client.Ping(pingIn(newAdapterConfig(nil), buyer.ping()))); got != row.ping {
				t.Errorf("ping: got %s, want %s", got, row.ping)
			}
			got := withoutElapsed(client.Post(postIn(newAdapterConfig(nil), buyer.post())))
			if got.Status = 0; got != row.post {
				t.Errorf("post: got %+v, want %+v", got, row.post)
			}
		})
	}
}

// The table lists the answers to a post that a 2xx may contain.
func TestAdapterPostAnswers(t *testing.T) {
	rows := []struct {
		name   string
		change func(*market.AdapterProtocol)
		body   string
		want   market.BuyerPostResult
	}{
		{"taken", nil, data(`"status":"taken","id":"b-1"`), market.BuyerPostResult{Verdict: accepted, BuyerLeadID: "b-1"}},
		{"an id that is a number", nil, data(`"status":"1","id":90071992547409931`), market.BuyerPostResult{Verdict: accepted, BuyerLeadID: "90071992547409931"}},
		{"no id", nil, data(`"status":1`), market.BuyerPostResult{Verdict: accepted}},
		{"an id that is an address", nil, data(`"status":1,"id":"ann@example.com"`), market.BuyerPostResult{Verdict: accepted}},
		{"an id too long", nil, data(`"status":1,"id":"` + long + `"`), market.BuyerPostResult{Verdict: accepted}},
		{"declined", nil, data(`"status":"Declined","why":"Duplicate"`), market.BuyerPostResult{Verdict: refused, Code: "duplicate", Final: true}},
		{"declined for the key", nil, data(`"status":"declined","why":"idempotency_key_reused"`), market.BuyerPostResult{Verdict: refused, Code: "idempotency_key_reused"}},
		{"neither", nil, data(`"status":"queued","id":"b-1"`), market.BuyerPostResult{Verdict: unknown, Fault: market.FaultMalformed}},
		{"an empty object", nil, `{}`, market.BuyerPostResult{Verdict: unknown, Fault: market.FaultMalformed}},
		{"only a reason", nil, data(`"why":"duplicate"`), market.BuyerPostResult{Verdict: unknown, Fault: market.FaultMalformed}},
		{"no JSON", nil, `taken`, market.BuyerPostResult{Verdict: unknown, Fault: market.FaultUnreadable}},
		{"XML", inXML, `<R><Ok>yes</Ok><Id>7</Id></R>`, market.BuyerPostResult{Verdict: accepted, BuyerLeadID: "7"}},
		{"truncated XML", inXML, `<R><Ok>yes</Ok><Id>7</Id>`, market.BuyerPostResult{Verdict: unknown, Fault: market.FaultUnreadable}},
		{"a form", inForm, `ok=0&why=dup`, market.BuyerPostResult{Verdict: refused, Code: "dup", Final: true}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers("201 Created", row.body))
			got := withoutElapsed(newClient(t, nil).Post(postIn(newAdapterConfig(row.change), buyer.post())))
			row.want.Status = 201
			if got != row.want {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
}
