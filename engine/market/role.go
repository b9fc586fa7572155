package market

// OperatorRole is an operator's permission level. A higher role includes the permissions of the lower
// ones. The numbers are in the log.
type OperatorRole uint8

const (
	RoleViewer   OperatorRole = 1 // reads everything that is not secret
	RoleOperator OperatorRole = 2 // daily operation: pauses, returns, deliveries, webhooks
	RoleAdmin    OperatorRole = 3 // changes the configuration, money and secrets
)

var roleNames = [...]string{"none", "viewer", "operator", "admin"}

func (r OperatorRole) String() string { return EnumName(roleNames[:], int(r), "none") }

// ParseRole returns the role with this name, or false if there is no such role.
func ParseRole(name string) (role OperatorRole, known bool) {
	for r := RoleViewer; r <= RoleAdmin; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}
