package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// addToken creates an API token in a session.
func (l *accountsFixture) addToken(session sessionHeaders) (token string) {
	l.t.Helper()
	made := l.send("POST /admin/v1/api-tokens", session.write, `{"name":"t"}`)
	if made.status != 201 {
		l.t.Fatalf("API token: %+v", made)
	}
	_, after, _ := strings.Cut(made.body, `"token":"`)
	token, _, _ = strings.Cut(after, `"`)
	return token
}

// A streamed answer breaks off when the access of its caller ends, for each credential and way.
func TestStreamedAnswerEndsWithAccess(t *testing.T) {
	for name, row := range map[string]struct {
		credential func(l *accountsFixture, session sessionHeaders) string
		end        func(l *accountsFixture, session sessionHeaders) adminAnswer
		broken     bool
	}{
		"no change": {credentialOfSession, func(l *accountsFixture, _ sessionHeaders) adminAnswer {
			return l.send("GET /admin/v1/hash", servertest.BasicAuth, "")
		}, false},
		"the session ends": {credentialOfSession, func(l *accountsFixture, session sessionHeaders) adminAnswer {
			return l.send("DELETE /admin/v1/session", session.write, "")
		}, true},
		"the account is removed": {credentialOfSession, func(l *accountsFixture, _ sessionHeaders) adminAnswer {
			return l.send("DELETE /admin/v1/users/bob", servertest.BasicAuth, "")
		}, true},
		"the role changes": {credentialOfToken, func(l *accountsFixture, _ sessionHeaders) adminAnswer {
			return l.send("PUT /admin/v1/users/bob", servertest.BasicAuth, `{"role":"viewer"}`)
		}, true},
		"the token is revoked": {credentialOfToken, func(l *accountsFixture, session sessionHeaders) adminAnswer {
			tokens := l.send("GET /admin/v1/api-tokens", session.read, "").body
			_, after, _ := strings.Cut(tokens, `"id":"`)
			id, _, _ := strings.Cut(after, `"`)
			return l.send("DELETE /admin/v1/api-tokens/"+id, session.write, "")
		}, true},
		"the password changes": {credentialOfPassword, func(l *accountsFixture, _ sessionHeaders) adminAnswer {
			return l.send("PUT /admin/v1/users/bob/password", servertest.BasicAuth, `{"new":"`+otherPassword+`"}`)
		}, true},
		"the password needs a code": {credentialOfPassword, func(l *accountsFixture, session sessionHeaders) adminAnswer {
			a := l.enroll("bob", session)
			return a.confirm(session, a.code(0))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
				l.sum = func(party ledger.Party, _ ledger.Period) (*ledger.Statement, error) {
					return &ledger.Statement{Party: party, Period: bluesSum.Period}, nil
				}
				l.entries = func() StatementEntryIterator { return &endlessEntries{200_000, io.EOF, make(chan struct{}, 1)} }
			})
			l.createUser("bob", market.RoleOperator)
			session := l.mustLogIn("bob", testPassword)
			credential := row.credential(l, session)
			k := servertest.Dial(t, l.address)
			fmt.Fprintf(k, "GET /admin/v1/statement?buyer=buy_blue&format=ndjson HTTP/1.1\r\nHost: x\r\n%s\r\n", credential)
			response := must.Value(http.ReadResponse(k.Answer, nil))(t) //nolint:bodyclose // the linter does not see through must.Value
			defer response.Body.Close()
			must.Value(io.CopyN(io.Discard, response.Body, 1000))(t)
			if got := row.end(l, session); got.status >= 300 {
				t.Fatalf("the end of the access: %+v", got)
			}
			if _, err := io.Copy(io.Discard, response.Body); (err != nil) != row.broken {
				t.Errorf("the stream ends with %v, want an error: %t", err, row.broken)
			}
		})
	}
}

func credentialOfSession(_ *accountsFixture, session sessionHeaders) string { return session.read }

func credentialOfToken(l *accountsFixture, session sessionHeaders) string {
	return "Authorization: Bearer " + l.addToken(session) + "\r\n"
}

func credentialOfPassword(*accountsFixture, sessionHeaders) string {
	return basicAuth("bob", testPassword)
}
