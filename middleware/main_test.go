package middleware

import (
	"testing"

	"github.com/keyroute/keyroute/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }
