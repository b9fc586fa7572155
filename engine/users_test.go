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

// describeUsers lists the users, each with role, password and number of tokens.
func (x *testExchange) describeUsers() (all string) {
	for _, user := range x.state.OperatorUsers() {
		all += fmt.Sprintf("%s %s %s %d; ", user.Name, user.Role, user.Password, len(x.state.APITokensWithExpired(user.Name)))
	}
	return all
}

// newAPIToken returns a user's token with number as the first byte of its hash.
func newAPIToken(user string, number byte, role market.OperatorRole, expires int64) *state.APIToken {
	return &state.APIToken{User: user, Name: "sheet", Role: role, Hash: [32]byte{number}, Hint: "ppa_", Expires: expires}
}

func TestUserManagement(t *testing.T) {
	viewer, operator, admin := market.RoleViewer, market.RoleOperator, market.RoleAdmin
	runWithExchange(t, "users", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("anna")
		set := func(name string, role market.OperatorRole, password string, keepAdmin bool) func() error {
			return func() error {
				_, err := e.CreateOrChangeUser(engine.NewOrChangedUser{Name: name, Role: role, Password: password}, keepAdmin)
				return err
			}
		}
		remove := func(name string, keepAdmin bool) func() error {
			return func() error { return e.RemoveUser(name, keepAdmin) }
		}
		token := func(token *state.APIToken) func() error {
			return func() error { user, _ := x.state.OperatorUser(token.User); return e.AddAPIToken(user, token) }
		}
		for i, step := range []struct {
			name  string
			act   func() error
			want  error
			users string
		}{
			{"new user without a password", set("bob", viewer, "", false), engine.ErrNotFound, ""},
			{"new user", set("bob", admin, "p1", true), nil, "bob admin p1 0; "},
			{"last admin keeps the role", set("bob", viewer, "", true), engine.ErrConflict, "bob admin p1 0; "},
			{"last admin is not removed", remove("bob", true), engine.ErrConflict, "bob admin p1 0; "},
			{"change password", set("bob", admin, "p2", true), nil, "bob admin p2 0; "},
			{"second user", set("carl", operator, "p3", true), nil, "bob admin p2 0; carl operator p3 0; "},
			{"role change of a user who is no admin", set("carl", viewer, "", true), nil, "bob admin p2 0; carl viewer p3 0; "},
			{"token of an unknown user", token(newAPIToken("none", 1, viewer, 0)), engine.ErrNotFound, "bob admin p2 0; carl viewer p3 0; "},
			{"token with a higher role than its user", token(newAPIToken("carl", 1, operator, 0)), engine.ErrConflict, "bob admin p2 0; carl viewer p3 0; "},
			{"token", token(newAPIToken("carl", 1, viewer, 0)), nil, "bob admin p2 0; carl viewer p3 1; "},
			{"token with a lower role than its user", token(newAPIToken("bob", 2, viewer, 0)), nil, "bob admin p2 1; carl viewer p3 1; "},
			{"no change keeps the token", set("carl", viewer, "", true), nil, "bob admin p2 1; carl viewer p3 1; "},
			{"role change removes the token", set("carl", admin, "", true), nil, "bob admin p2 1; carl admin p3 0; "},
			{"remove one of two admins", remove("bob", true), nil, "carl admin p3 0; "},
			{"remove again", remove("bob", true), engine.ErrNotFound, "carl admin p3 0; "},
			{"remove the last admin, admin password configured", remove("carl", false), nil, ""},
		} {
			before := x.log.len()
			time.Sleep(time.Second)
			if err := step.act(); !errors.Is(err, step.want) {
				t.Errorf("%d, %s: error %v, want %v", i, step.name, err, step.want)
			}
			expectEqual(t, x.describeUsers(), step.users, i, ", ", step.name)
			if x.log.len() != before && event.RequestingOperator(x.lastEvent()) != "anna" {
				t.Errorf("%d, %s: event without operator anna: %s", i, step.name, event.DescribeAsJSON(x.lastEvent()))
			}
			x.crashAndRestart()
			if e = x.engine.AsOperator("anna"); x.describeUsers() != step.users {
				t.Errorf("%d, %s: after a restart users %s, want %s", i, step.name, x.describeUsers(), step.users)
			}
		}
	})
}

// The password must still be the one that the request was authenticated with.
func TestPasswordChangeNeedsCurrentPassword(t *testing.T) {
	runWithExchange(t, "password", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("bob")
		if _, err := e.CreateOrChangeUser(engine.NewOrChangedUser{Name: "bob", Role: market.RoleViewer, Password: "p1"}, false); err != nil {
			t.Fatal(err)
		}
		bob, _ := x.state.OperatorUser("bob")
		if err := e.SetPassword(&bob, "p2"); err != nil || x.describeUsers() != "bob viewer p2 0; " {
			t.Errorf("change: error %v, users %s", err, x.describeUsers())
		}
		if err := e.SetPassword(&bob, "p3"); !errors.Is(err, engine.ErrConflict) || x.describeUsers() != "bob viewer p2 0; " {
			t.Errorf("change with an old password: error %v, users %s", err, x.describeUsers())
		}
		bob.Name = "carl"
		expectError(t, e.SetPassword(&bob, "p3"), engine.ErrNotFound, "unknown user")
	})
}

// Expired tokens do not count. The next new token removes them.
func TestAPITokenLimit(t *testing.T) {
	runWithExchange(t, "tokens", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("")
		if _, err := e.CreateOrChangeUser(engine.NewOrChangedUser{Name: "bob", Role: market.RoleViewer, Password: "p1"}, false); err != nil {
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
		changed := bob
		changed.Role = market.RoleAdmin
		if err := e.AddAPIToken(changed, newAPIToken("bob", 201, market.RoleViewer, 0)); !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "meanwhile") {
			t.Errorf("token of a user whose role changed meanwhile: error %v", err)
		}
		expectError(t, e.AddAPIToken(bob, newAPIToken("bob", 200, market.RoleViewer, 0)), engine.ErrConflict, "token above the limit")
		time.Sleep(time.Minute)
		if err := e.AddAPIToken(bob, newAPIToken("bob", 200, market.RoleViewer, 0)); err != nil || len(x.state.APITokensWithExpired("bob")) != 61 {
			t.Errorf("after some expired: error %v, %d tokens, want 61", err, len(x.state.APITokensWithExpired("bob")))
		}
		last, _, _ := x.state.APITokenEvenIfExpired([32]byte{200})
		for range 2 { // the second time is a no-op
			if err := e.RevokeAPIToken(&last); err != nil || len(x.state.APITokensWithExpired("bob")) != 60 {
				t.Errorf("revoked: error %v, %d tokens, want 60", err, len(x.state.APITokensWithExpired("bob")))
			}
		}
	})
}

func TestUserLimit(t *testing.T) {
	runWithExchange(t, "users", marketSpec{}, func(t *testing.T, x *testExchange) {
		for n := range engine.MaxUsers + 1 {
			_, err := x.engine.AsOperator("").CreateOrChangeUser(engine.NewOrChangedUser{Name: fmt.Sprint("u", n), Role: market.RoleViewer, Password: "p"}, false)
			expectEqual(t, errors.Is(err, engine.ErrConflict), n == engine.MaxUsers, "user ", n)
		}
	})
}
