package state

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

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
		if got := s.Users(); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
		token, user, ok := s.APIToken([32]byte{1})
		if want := (APIToken{User: "bob", Name: "cron", Role: market.RoleViewer, Hash: [32]byte{1}, Hint: "ppa_1", At: 4, Expires: 99}); !ok || token != want || user.Name != "bob" {
			t.Errorf("%s: %+v of %+v, %v", name, token, user, ok)
		}
		if all, bobs := tokenHints(s.APITokens("")), tokenHints(s.APITokens("bob")); all != "ppa_1 ppa_3 ppa_2 " || bobs != "ppa_1 ppa_3 " {
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
			if got := tokenHints(s.APITokens("")); got != row.tokens {
				t.Errorf("%s, %s: %s, want %s", what, name, got, row.tokens)
			}
			if got, _ := s.OperatorUser("bob"); got != row.user {
				t.Errorf("%s, %s: %+v, want %+v", what, name, got, row.user)
			}
		}
	}
}

// A snapshot of a version without users loads.
func TestSnapshotBeforeUsersLoads(t *testing.T) {
	x := newTestExchange()
	file := snapshotOf(t, x)
	in := sectionReader{r: bytes.NewReader(file)}
	if err := in.readHeader(); err != nil {
		t.Fatal(err)
	}
	if err := in.nextSection(); err != nil || in.kind != sectionGlobal {
		t.Fatalf("section %d, %v", in.kind, err)
	}
	end := len(file) - in.r.(*bytes.Reader).Len()
	length := end - len(in.body) - 4
	if !bytes.Equal(file[end-2:end], []byte{0, 0}) {
		t.Fatal("the snapshot has users")
	}
	binary.LittleEndian.PutUint32(file[length:], uint32(len(in.body)-2))
	file = slices.Delete(file, end-2, end)
	file[4] = versionUsers - 1
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
