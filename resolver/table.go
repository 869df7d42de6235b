package resolver

import "strings"

// TableName returns the name of a table that requests give by name or by ARN,
// "arn:aws:dynamodb:region:account:table/name".
func TableName(table string) string {
	if strings.HasPrefix(table, "arn:") {
		if _, name, ok := strings.Cut(table, ":table/"); ok {
			name, _, _ = strings.Cut(name, "/")
			return name
		}
	}
	return table
}
