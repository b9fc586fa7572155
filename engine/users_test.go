package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// describeUsers says which users there are, and how many tokens each has.
func (x *testExchange) describeUsers() (all string) {
	for _, user := range x.state.Users() {
		all += fmt.Sprintf("%s %s %s %d; ", user.Name, user.Role, user.Password, len(x.state.APITokens(user.Name)))
	}
	return all
}

// newAPIToken is a token of a user, with a number for its hash.
func newAPIToken(user string, number byte, role market.OperatorRole, expires int64) *state.APIToken {
	return &state.APIToken{User: user, Name: "sheet", Role: role, Hash: [32]byte{number}, Hint: "ppa_", Expires: expires}
}

func TestUsers(t *testing.T) {
	viewer, operator, admin := market.RoleViewer, market.RoleOperator, market.RoleAdmin
	runWithExchange(t, "users", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("anna")
		set := func(name string, role market.OperatorRole, password string, keeper bool) func() error {
			return func() error {
				_, err := e.CreateOrChangeUser(engine.User{Name: name, Role: role, Password: password}, keeper)
				return err
			}
		}
		remove := func(name string, keeper bool) func() error {
			return func() error { return e.RemoveUser(name, keeper) }
		}
		token := func(token *state.APIToken) func() error {
			return func() error { user, _ := x.state.OperatorUser(token.User); return e.AddAPIToken(user, token) }
		}
		for i, step := range []struct {
			name string
			do   func() error
			want error
			then string
		}{
			{"a new one needs a password", set("bob", viewer, "", false), engine.ErrNotFound, ""},
			{"a new one", set("bob", admin, "p1", true), nil, "bob admin p1 0; "},
			{"the last admin stays one", set("bob", viewer, "", true), engine.ErrConflict, "bob admin p1 0; "},
			{"the last admin stays", remove("bob", true), engine.ErrConflict, "bob admin p1 0; "},
			{"another password", set("bob", admin, "p2", true), nil, "bob admin p2 0; "},
			{"another", set("carl", operator, "p3", true), nil, "bob admin p2 0; carl operator p3 0; "},
			{"who is none goes while one stays", set("carl", viewer, "", true), nil, "bob admin p2 0; carl viewer p3 0; "},
			{"a token of nobody's", token(newAPIToken("none", 1, viewer, 0)), engine.ErrNotFound, "bob admin p2 0; carl viewer p3 0; "},
			{"a token above its user", token(newAPIToken("carl", 1, operator, 0)), engine.ErrConflict, "bob admin p2 0; carl viewer p3 0; "},
			{"a token", token(newAPIToken("carl", 1, viewer, 0)), nil, "bob admin p2 0; carl viewer p3 1; "},
			{"a token below its user", token(newAPIToken("bob", 2, viewer, 0)), nil, "bob admin p2 1; carl viewer p3 1; "},
			{"nothing changes, so the token stays", set("carl", viewer, "", true), nil, "bob admin p2 1; carl viewer p3 1; "},
			{"a role changes, and the token goes", set("carl", admin, "", true), nil, "bob admin p2 1; carl admin p3 0; "},
			{"of two admins one may go", remove("bob", true), nil, "carl admin p3 0; "},
			{"once", remove("bob", true), engine.ErrNotFound, "carl admin p3 0; "},
			{"with a password all may go", remove("carl", false), nil, ""},
		} {
			before := x.log.len()
			time.Sleep(time.Second)
			if err := step.do(); !errors.Is(err, step.want) {
				t.Errorf("%d, %s: %v, want %v", i, step.name, err, step.want)
			}
			expectEqual(t, x.describeUsers(), step.then, i, ", ", step.name)
			if x.log.len() != before && event.RequestingOperator(x.lastEvent()) != "anna" {
				t.Errorf("%d, %s: nobody asked for %s", i, step.name, event.DescribeAsJSON(x.lastEvent()))
			}
			x.crashAndRestart()
			if e = x.engine.AsOperator("anna"); x.describeUsers() != step.then {
				t.Errorf("%d, %s: after a restart %s, want %s", i, step.name, x.describeUsers(), step.then)
			}
		}
	})
}

// TestPasswordOfWhoWasJudged: a password is changed by who knew the one that is in
// force still when it changes.
func TestPasswordOfWhoWasJudged(t *testing.T) {
	runWithExchange(t, "password", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("bob")
		if _, err := e.CreateOrChangeUser(engine.User{Name: "bob", Role: market.RoleViewer, Password: "p1"}, false); err != nil {
			t.Fatal(err)
		}
		bob, _ := x.state.OperatorUser("bob")
		if err := e.SetPassword(&bob, "p2"); err != nil || x.describeUsers() != "bob viewer p2 0; " {
			t.Errorf("%v, %s", err, x.describeUsers())
		}
		if err := e.SetPassword(&bob, "p3"); !errors.Is(err, engine.ErrConflict) || x.describeUsers() != "bob viewer p2 0; " {
			t.Errorf("by who knew another: %v, %s", err, x.describeUsers())
		}
		bob.Name = "carl"
		expectError(t, e.SetPassword(&bob, "p3"), engine.ErrNotFound, "of nobody")
	})
}

// TestTokensAreFew: a user has a hundred tokens at most; those that are past their end
// are not of them, and go with the next that is made.
func TestTokensAreFew(t *testing.T) {
	runWithExchange(t, "tokens", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("")
		if _, err := e.CreateOrChangeUser(engine.User{Name: "bob", Role: market.RoleViewer, Password: "p1"}, false); err != nil {
			t.Fatal(err)
		}
		bob, _ := x.state.OperatorUser("bob")
		soon := time.Now().Add(time.Minute).UnixNano()
		for n := range byte(engine.MaxAPITokens) {
			expires := soon
			if n < 60 {
				expires = 0
			}
			must.Succeed(t, e.AddAPIToken(bob, newAPIToken("bob", n, market.RoleViewer, expires)))
		}
		was := bob
		was.Role = market.RoleAdmin
		if err := e.AddAPIToken(was, newAPIToken("bob", 201, market.RoleViewer, 0)); !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "meanwhile") {
			t.Errorf("of a user who is another by now: %v", err)
		}
		expectError(t, e.AddAPIToken(bob, newAPIToken("bob", 200, market.RoleViewer, 0)), engine.ErrConflict, "one too many")
		time.Sleep(time.Minute)
		if err := e.AddAPIToken(bob, newAPIToken("bob", 200, market.RoleViewer, 0)); err != nil || len(x.state.APITokens("bob")) != 61 {
			t.Errorf("after some have ended: %v, %d tokens", err, len(x.state.APITokens("bob")))
		}
		last, _, _ := x.state.APIToken([32]byte{200})
		for range 2 { // once more does no harm
			if err := e.RevokeAPIToken(&last); err != nil || len(x.state.APITokens("bob")) != 60 {
				t.Errorf("revoked: %v, %d tokens", err, len(x.state.APITokens("bob")))
			}
		}
	})
}

func TestUsersAreFew(t *testing.T) {
	runWithExchange(t, "users", marketSpec{}, func(t *testing.T, x *testExchange) {
		for n := range engine.MaxUsers + 1 {
			_, err := x.engine.AsOperator("").CreateOrChangeUser(engine.User{Name: fmt.Sprint("u", n), Role: market.RoleViewer, Password: "p"}, false)
			expectEqual(t, errors.Is(err, engine.ErrConflict), n == engine.MaxUsers, "user ", n)
		}
	})
}
