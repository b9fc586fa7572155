package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

func invitation(number uint16, expires time.Time) *state.Invitation {
	return &state.Invitation{Hash: [32]byte{byte(number), byte(number >> 8), 1}, Role: market.RoleOperator, Expires: expires.UnixNano()}
}

func TestInvitationIsAcceptedOnce(t *testing.T) {
	runWithExchange(t, "invitation", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("anna")
		soon := time.Now().Add(time.Hour)
		named := invitation(3, soon)
		named.Name = "carl"
		for _, i := range []*state.Invitation{invitation(1, soon), invitation(2, soon), named} {
			must.Succeed(t, e.CreateInvitation(i))
		}
		must.Succeed(t, e.RevokeInvitation(invitation(2, soon).Hash))
		for i, step := range []struct {
			name   string
			number uint16
			user   string
			want   error
			users  string
		}{
			{"revoked", 2, "bob", engine.ErrNotFound, ""},
			{"unknown", 9, "bob", engine.ErrNotFound, ""},
			{"another name", 3, "bob", engine.ErrConflict, ""},
			{"the first", 1, "bob", nil, "bob operator p 0; "},
			{"again", 1, "dora", engine.ErrNotFound, "bob operator p 0; "},
			{"the same name", 3, "carl", nil, "bob operator p 0; carl operator p 0; "},
		} {
			err := x.engine.AsOperator(step.user).AcceptInvitation(invitation(step.number, soon).Hash, step.user, "p")
			if !errors.Is(err, step.want) {
				t.Errorf("%d, %s: error %v, want %v", i, step.name, err, step.want)
			}
			expectEqual(t, x.describeUsers(), step.users, i, ", ", step.name)
			x.crashAndRestart()
			expectEqual(t, x.describeUsers(), step.users, i, " after a restart, ", step.name)
		}
	})
}

func TestInvitationExpiresAndIsLimited(t *testing.T) {
	runWithExchange(t, "limits", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("anna")
		soon := time.Now().Add(time.Hour)
		for n := range uint16(engine.MaxInvitations) {
			must.Succeed(t, e.CreateInvitation(invitation(n, soon)))
		}
		expectError(t, e.CreateInvitation(invitation(5000, soon)), engine.ErrConflict, "one too many")
		must.Succeed(t, e.RevokeInvitation(invitation(1, soon).Hash))
		must.Succeed(t, e.CreateInvitation(invitation(5000, soon)))
		time.Sleep(time.Hour)
		expectError(t, e.AcceptInvitation(invitation(5000, soon).Hash, "bob", "p"), engine.ErrNotFound, "an expired one")
		must.Succeed(t, e.CreateInvitation(invitation(5001, soon.Add(time.Hour))))
		must.Succeed(t, e.AcceptInvitation(invitation(5001, soon).Hash, "bob", "p"))
		taken := invitation(5002, soon.Add(time.Hour))
		taken.Name = "bob"
		expectError(t, e.CreateInvitation(taken), engine.ErrConflict, "a name that exists")
	})
}

func TestSecondFactorCodesAreUsedOnce(t *testing.T) {
	runWithExchange(t, "factor", marketSpec{}, func(t *testing.T, x *testExchange) {
		e := x.engine.AsOperator("bob")
		must.Value(e.CreateOrChangeUser(engine.NewOrChangedUser{Name: "bob", Role: market.RoleViewer, Password: "p"}, false))(t)
		factor := func() *state.SecondFactor { f, _ := x.state.SecondFactorEvenIfUnconfirmed("bob"); return &f }
		stale := &state.SecondFactor{User: "bob", Sealed: []byte("old")}
		codes := []event.RecoveryCodeHash{{1}, {2}}
		for i, step := range []struct {
			name string
			act  func() error
			want error
			left string
		}{
			{"confirm none", func() error { return e.ConfirmSecondFactor(stale, 5, codes) }, engine.ErrConflict, "false 0 0"},
			{"enroll an unknown user", func() error { return e.EnrollSecondFactor("carl", []byte("x")) }, engine.ErrNotFound, "false 0 0"},
			{"enroll", func() error { return e.EnrollSecondFactor("bob", []byte("first")) }, nil, "false 0 0"},
			{"enroll again", func() error { return e.EnrollSecondFactor("bob", []byte("second")) }, nil, "false 0 0"},
			{"a code before the confirmation", func() error { return e.MarkSecondFactorStepUsed(factor(), 4) }, engine.ErrConflict, "false 0 0"},
			{"confirm the replaced one", func() error { return e.ConfirmSecondFactor(stale, 5, codes) }, engine.ErrConflict, "false 0 0"},
			{"confirm", func() error { return e.ConfirmSecondFactor(factor(), 5, codes) }, nil, "true 5 2"},
			{"enroll over a confirmed one", func() error { return e.EnrollSecondFactor("bob", []byte("third")) }, engine.ErrConflict, "true 5 2"},
			{"the confirming code", func() error { return e.MarkSecondFactorStepUsed(factor(), 5) }, engine.ErrConflict, "true 5 2"},
			{"the next code", func() error { return e.MarkSecondFactorStepUsed(factor(), 6) }, nil, "true 6 2"},
			{"an earlier code", func() error { return e.MarkSecondFactorStepUsed(factor(), 5) }, engine.ErrConflict, "true 6 2"},
			{"a recovery code", func() error { return e.UseRecoveryCode("bob", codes[1]) }, nil, "true 6 1"},
			{"the same recovery code", func() error { return e.UseRecoveryCode("bob", codes[1]) }, engine.ErrConflict, "true 6 1"},
			{"remove", func() error { return e.RemoveSecondFactor("bob") }, nil, "false 0 0"},
			{"remove again", func() error { return e.RemoveSecondFactor("bob") }, nil, "false 0 0"},
			{"a recovery code after that", func() error { return e.UseRecoveryCode("bob", codes[0]) }, engine.ErrConflict, "false 0 0"},
		} {
			if err := step.act(); !errors.Is(err, step.want) {
				t.Errorf("%d, %s: error %v, want %v", i, step.name, err, step.want)
			}
			x.crashAndRestart()
			e = x.engine.AsOperator("bob")
			f := factor()
			expectEqual(t, fmt.Sprint(f.Active, f.LastStep, len(f.Recovery)), step.left, i, ", ", step.name)
		}
	})
}
