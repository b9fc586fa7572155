package market

// Role is an operator's permission level. A higher role includes the permissions of the lower
// ones. The numbers are in the log.
type Role uint8

const (
	RoleViewer   Role = 1 // reads everything that is not secret
	RoleOperator Role = 2 // daily operation: pauses, returns, deliveries, webhooks
	RoleAdmin    Role = 3 // changes the configuration, money and secrets
)

var roleNames = [...]string{"none", "viewer", "operator", "admin"}

func (r Role) String() string { return EnumName(roleNames[:], int(r), "none") }

// ParseRole returns the role with this name, or false if there is no such role.
func ParseRole(name string) (Role, bool) {
	for r := RoleViewer; r <= RoleAdmin; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}
