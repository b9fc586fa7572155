package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// userEvents add two operators and three tokens.
var userEvents = []event.Event{
	&event.UserAccountChanged{Name: "bob", Role: market.RoleViewer, Password: "hash of bob's", At: 1},
	&event.UserAccountChanged{Name: "anna", Role: market.RoleAdmin, Password: "hash of anna's", At: 2, By: "bob"},
	&event.APITokenAddedOrRevoked{User: "bob", Name: "sheet", Role: market.RoleViewer, Hash: [32]byte{3}, Hint: "ppa_3", At: 5},
	&event.APITokenAddedOrRevoked{User: "bob", Name: "cron", Role: market.RoleViewer, Hash: [32]byte{1}, Hint: "ppa_1", At: 4, Expires: 99},
	&event.APITokenAddedOrRevoked{User: "anna", Name: "", Role: market.RoleOperator, Hash: [32]byte{2}, Hint: "ppa_2", At: 6},
}

func stateWithUsers(more ...event.Event) *State {
	s := New()
	for i, ev := range append(slices.Clone(userEvents), more...) {
		s.Apply(uint64(i+1), 7, ev)
	}
	return s
}

// tokenHints joins the hints of tokens.
func tokenHints(tokens []APIToken) (all string) {
	for _, token := range tokens {
		all += token.Hint + " "
	}
	return all
}

func TestSnapshotKeepsUsersAndTokens(t *testing.T) {
	live := stateWithUsers()
	for name, s := range map[string]*State{"live": live, "loaded": restoreFromSnapshot(t, live)} {
		want := []OperatorUser{
			{Name: "anna", Role: market.RoleAdmin, Password: "hash of anna's", Created: 2, Changed: 2},
			{Name: "bob", Role: market.RoleViewer, Password: "hash of bob's", Created: 1, Changed: 1},
		}
		if got := s.OperatorUsers(); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
		token, user, ok := s.APITokenEvenIfExpired([32]byte{1})
		if want := (APIToken{User: "bob", Name: "cron", Role: market.RoleViewer, Hash: [32]byte{1}, Hint: "ppa_1", At: 4, Expires: 99}); !ok || token != want || user.Name != "bob" {
			t.Errorf("%s: %+v of %+v, %v", name, token, user, ok)
		}
		if all, bobs := tokenHints(s.APITokensWithExpired("")), tokenHints(s.APITokensWithExpired("bob")); all != "ppa_1 ppa_3 ppa_2 " || bobs != "ppa_1 ppa_3 " {
			t.Errorf("%s: all tokens %s, bob's %s", name, all, bobs)
		}
	}
}

// Any change of a user revokes that user's tokens and no others, and gives the user a new
// Changed value.
func TestUserChangeRevokesTheirTokens(t *testing.T) {
	for what, row := range map[string]struct {
		event  event.Event
		tokens string
		user   OperatorUser
	}{
		"removed":         {&event.UserAccountChanged{Name: "bob", Removed: true, At: 9}, "ppa_2 ", OperatorUser{}},
		"another role":    {&event.UserAccountChanged{Name: "bob", Role: market.RoleAdmin, Password: "p", At: 9}, "ppa_2 ", OperatorUser{"bob", market.RoleAdmin, "p", 1, 9}},
		"the same again":  {&event.UserAccountChanged{Name: "bob", Role: market.RoleViewer, Password: "hash of bob's", At: 1}, "ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 2}},
		"another user":    {&event.UserAccountChanged{Name: "carl", Role: market.RoleAdmin, Password: "p", At: 9}, "ppa_1 ppa_3 ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 1}},
		"a token revoked": {&event.APITokenAddedOrRevoked{User: "bob", Hash: [32]byte{3}, Revoked: true}, "ppa_1 ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 1}},
	} {
		live := stateWithUsers(row.event)
		for name, s := range map[string]*State{"live": live, "loaded": restoreFromSnapshot(t, live)} {
			if got := tokenHints(s.APITokensWithExpired("")); got != row.tokens {
				t.Errorf("%s, %s: %s, want %s", what, name, got, row.tokens)
			}
			if got, _ := s.OperatorUser("bob"); got != row.user {
				t.Errorf("%s, %s: %+v, want %+v", what, name, got, row.user)
			}
		}
	}
}

// withoutLaterFields returns the snapshot of an empty state as the version before users had it: without users,
// tokens, invitations, second factors, alerts, saved reports and caps of terms (a count of zero each), and without the count of
// leads that cold files have too.
func withoutLaterFields(t *testing.T, file []byte) (older []byte) {
	t.Helper()
	in := snapshotSectionReader{r: bytes.NewReader(file)}
	if err := in.readMagicVersionAndShardCount(); err != nil {
		t.Fatal(err)
	}
	headerBytes := len(file) - in.r.(*bytes.Reader).Len()
	older = bytes.Clone(file[:headerBytes])
	older[4] = versionUsers - 1
	for range sectionsPerShard*shardCount + 1 {
		begin := len(file) - in.r.(*bytes.Reader).Len()
		if err := in.nextSection(); err != nil {
			t.Fatal(err)
		}
		end := len(file) - in.r.(*bytes.Reader).Len()
		later := map[byte]int{sectionGlobal: 7, sectionLeads: 1}[in.kind]
		if !bytes.Equal(file[end-later:end], make([]byte, later)) {
			t.Fatalf("a section of kind %d has users, invitations, second factors, alerts, saved reports, caps of terms or leads", in.kind)
		}
		at := len(older)
		older = append(older, file[begin:end-later]...)
		binary.LittleEndian.PutUint32(older[at+end-begin-len(in.body)-4:], uint32(len(in.body)-later))
	}
	return older
}

// A snapshot of a version without users loads.
func TestSnapshotBeforeUsersLoads(t *testing.T) {
	x := &testExchange{State: New(), at: monday} // without caps, whose filter sets were added later
	x.logAndApply(&event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: x.at})
	file := withoutLaterFields(t, snapshotOf(t, x))
	s := New()
	if _, err := s.LoadSnapshot(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	_, want := x.Hash()
	if _, got := s.Hash(); got != want {
		t.Errorf("hash %x, want %x", got, want)
	}
	file[4] = versionUsers
	if _, err := New().LoadSnapshot(bytes.NewReader(file)); err == nil {
		t.Error("a truncated snapshot of the current version was accepted")
	}
}

// describeInvitations lists the first byte and the status of each invitation, the newest first.
func describeInvitations(s *State) (all string) {
	for _, i := range s.InvitationsWithClosed() {
		all += fmt.Sprintf("%d:%d ", i.Hash[0], i.Status)
	}
	return all
}

func TestInvitationsEnd(t *testing.T) {
	const later = int64(100 * time.Hour)
	invite := func(number byte, by string, at int64) event.Event {
		return &event.InvitationCreatedOrRevoked{Hash: [32]byte{number}, Role: market.RoleViewer, Expires: at + int64(time.Hour), At: at, By: by}
	}
	first := []event.Event{invite(1, "anna", 10), invite(2, "operator", 11)}
	for what, row := range map[string]struct {
		event event.Event
		want  string
	}{
		"revoked":                  {&event.InvitationCreatedOrRevoked{Hash: [32]byte{1}, Revoked: true, At: 20}, "2:1 1:3 "},
		"used":                     {&event.UserAccountChanged{Name: "carl", Role: market.RoleViewer, Password: "p", At: 20, Invitation: [32]byte{2}}, "2:2 1:1 "},
		"inviter removed":          {&event.UserAccountChanged{Name: "anna", Removed: true, At: 20}, "2:1 1:3 "},
		"inviter is no admin":      {&event.UserAccountChanged{Name: "anna", Role: market.RoleOperator, At: 20}, "2:1 1:3 "},
		"inviter's new password":   {&event.UserAccountChanged{Name: "anna", Role: market.RoleAdmin, At: 20}, "2:1 1:1 "},
		"another one":              {invite(3, "anna", later), "3:1 2:1 1:1 "},
		"another one after months": {invite(3, "anna", later+keepClosedInvitations), "3:1 "},
	} {
		live := stateWithUsers(append(slices.Clone(first), row.event)...)
		for name, s := range map[string]*State{"live": live, "loaded": restoreFromSnapshot(t, live)} {
			if got := describeInvitations(s); got != row.want {
				t.Errorf("%s, %s: %s, want %s", what, name, got, row.want)
			}
		}
	}
}

func TestInvitationsInMemoryAreLimited(t *testing.T) {
	s := New()
	for i := range uint64(maxInvitations + 50) {
		var hash [32]byte
		binary.BigEndian.PutUint64(hash[:], i+1)
		at := int64(i) * int64(time.Minute)
		s.Apply(i+1, 7, &event.InvitationCreatedOrRevoked{Hash: hash, Role: market.RoleViewer, Expires: at + int64(time.Hour), At: at})
	}
	if got := s.InvitationsWithClosed(); len(got) != maxInvitations || got[0].At != int64(maxInvitations+49)*int64(time.Minute) || got[len(got)-1].At != 50*int64(time.Minute) {
		t.Errorf("%d invitations from %d to %d", len(got), got[len(got)-1].At, got[0].At)
	}
}

func TestSecondFactorFollowsItsEvents(t *testing.T) {
	change := func(change event.SecondFactorChangeOrUse, step uint64, hashes ...event.RecoveryCodeHash) event.Event {
		return &event.UserSecondFactorChangedOrUsed{User: "bob", Change: change, Sealed: []byte("sealed"), Step: step, Recovery: hashes, At: int64(change)}
	}
	enrolled, confirmed := change(event.SecondFactorEnrolled, 0), change(event.SecondFactorConfirmed, 5, event.RecoveryCodeHash{1}, event.RecoveryCodeHash{2})
	for what, row := range map[string]struct {
		events []event.Event
		want   string
	}{
		"enrolled":       {[]event.Event{enrolled}, "false sealed 0 0"},
		"confirmed":      {[]event.Event{enrolled, confirmed}, "true sealed 5 2"},
		"a code":         {[]event.Event{enrolled, confirmed, change(event.SecondFactorUsed, 9)}, "true sealed 9 2"},
		"an older code":  {[]event.Event{enrolled, confirmed, change(event.SecondFactorUsed, 3)}, "true sealed 5 2"},
		"recovery code":  {[]event.Event{enrolled, confirmed, change(event.SecondFactorUsed, 0, event.RecoveryCodeHash{2})}, "true sealed 5 1"},
		"enrolled again": {[]event.Event{enrolled, confirmed, enrolled}, "false sealed 0 0"},
		"removed":        {[]event.Event{enrolled, confirmed, change(event.SecondFactorRemoved, 0)}, ""},
		"user removed":   {[]event.Event{enrolled, confirmed, &event.UserAccountChanged{Name: "bob", Removed: true}}, ""},
		"other user":     {[]event.Event{enrolled, confirmed, &event.UserAccountChanged{Name: "anna", Removed: true}}, "true sealed 5 2"},
		"never enrolled": {[]event.Event{confirmed}, ""},
	} {
		live := stateWithUsers(row.events...)
		for name, s := range map[string]*State{"live": live, "loaded": restoreFromSnapshot(t, live)} {
			got := ""
			if f, ok := s.SecondFactorEvenIfUnconfirmed("bob"); ok {
				got = fmt.Sprintf("%v %s %d %d", f.Active, f.Sealed, f.LastStep, len(f.Recovery))
			}
			if got != row.want {
				t.Errorf("%s, %s: %q, want %q", what, name, got, row.want)
			}
		}
	}
}
