package state

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// hired are facts that make two operators and three tokens.
var hired = []event.Event{
	&event.UserAccountChanged{Name: "bob", Role: market.RoleViewer, Password: "hash of bob's", At: 1},
	&event.UserAccountChanged{Name: "anna", Role: market.RoleAdmin, Password: "hash of anna's", At: 2, By: "bob"},
	&event.APITokenAddedOrRevoked{User: "bob", Name: "sheet", Role: market.RoleViewer, Hash: [32]byte{3}, Hint: "ppa_3", At: 5},
	&event.APITokenAddedOrRevoked{User: "bob", Name: "cron", Role: market.RoleViewer, Hash: [32]byte{1}, Hint: "ppa_1", At: 4, Expires: 99},
	&event.APITokenAddedOrRevoked{User: "anna", Name: "", Role: market.RoleOperator, Hash: [32]byte{2}, Hint: "ppa_2", At: 6},
}

func staffed(more ...event.Event) *State {
	s := New()
	for i, fact := range append(slices.Clone(hired), more...) {
		s.Apply(uint64(i+1), 7, fact)
	}
	return s
}

// hints are those of tokens, in their order.
func hints(tokens []APIToken) (all string) {
	for _, token := range tokens {
		all += token.Hint + " "
	}
	return all
}

func TestASnapshotHasAllOfTheStaff(t *testing.T) {
	live := staffed()
	for name, s := range map[string]*State{"live": live, "loaded": loaded(t, live)} {
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
		if all, bobs := hints(s.APITokens("")), hints(s.APITokens("bob")); all != "ppa_1 ppa_3 ppa_2 " || bobs != "ppa_1 ppa_3 " {
			t.Errorf("%s: all tokens %s, bob's %s", name, all, bobs)
		}
	}
}

// TestAUsersEndIsItsTokens: whatever is said of a user ends the tokens that it had,
// and no one else's; and no two values of a user are equal.
func TestAUsersEndIsItsTokens(t *testing.T) {
	for what, row := range map[string]struct {
		fact   event.Event
		tokens string
		user   OperatorUser
	}{
		"removed":         {&event.UserAccountChanged{Name: "bob", Removed: true, At: 9}, "ppa_2 ", OperatorUser{}},
		"another role":    {&event.UserAccountChanged{Name: "bob", Role: market.RoleAdmin, Password: "p", At: 9}, "ppa_2 ", OperatorUser{"bob", market.RoleAdmin, "p", 1, 9}},
		"the same again":  {&event.UserAccountChanged{Name: "bob", Role: market.RoleViewer, Password: "hash of bob's", At: 1}, "ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 2}},
		"another user":    {&event.UserAccountChanged{Name: "carl", Role: market.RoleAdmin, Password: "p", At: 9}, "ppa_1 ppa_3 ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 1}},
		"a token revoked": {&event.APITokenAddedOrRevoked{User: "bob", Hash: [32]byte{3}, Revoked: true}, "ppa_1 ppa_2 ", OperatorUser{"bob", market.RoleViewer, "hash of bob's", 1, 1}},
	} {
		live := staffed(row.fact)
		for name, s := range map[string]*State{"live": live, "loaded": loaded(t, live)} {
			if got := hints(s.APITokens("")); got != row.tokens {
				t.Errorf("%s, %s: %s, want %s", what, name, got, row.tokens)
			}
			if got, _ := s.OperatorUser("bob"); got != row.user {
				t.Errorf("%s, %s: %+v, want %+v", what, name, got, row.user)
			}
		}
	}
}

// TestASnapshotWithoutStaff: one that a program before them wrote is loaded.
func TestASnapshotWithoutStaff(t *testing.T) {
	w := newWorld()
	file := snapshotOf(t, w)
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
		t.Fatal("there is staff in it")
	}
	binary.LittleEndian.PutUint32(file[length:], uint32(len(in.body)-2))
	file = slices.Delete(file, end-2, end)
	file[4] = versionUsers - 1
	s := New()
	if _, err := s.LoadSnapshot(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	_, want := w.Hash()
	if _, got := s.Hash(); got != want {
		t.Errorf("another state: %x, want %x", got, want)
	}
	file[4] = versionUsers
	if _, err := New().LoadSnapshot(bytes.NewReader(file)); err == nil {
		t.Error("as one of today it is cut short, and loaded")
	}
}
