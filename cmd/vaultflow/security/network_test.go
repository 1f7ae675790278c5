//go:build linux

package security

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// network is a network namespace in which every address is this machine: whatever a program sends arrives, is answered, and
// is written down. Loopback addresses are the tests' own and do not count.
type network struct {
	mu      sync.Mutex
	sent    map[netip.Addr][]string // what was sent to an address. Guarded by mu
	asked   map[string]int          // names that were looked up. Guarded by mu
	claimed map[netip.Addr]bool     // addresses of scenarios. Guarded by mu
	hosts   map[string]netip.Addr   // what names resolve to. Guarded by mu
}

func newNetwork(dir string) (*network, error) {
	n := &network{sent: map[netip.Addr][]string{}, asked: map[string]int{}, claimed: map[netip.Addr]bool{}, hosts: map[string]netip.Addr{}}
	if err := errors.Join(loopbackUp(), everyAddressIsLocal(), ownResolver(dir)); err != nil {
		return nil, err
	}
	if err := n.listenToPackets(); err != nil {
		return nil, err
	}
	names, err := net.ListenPacket("udp", "0.0.0.0:53")
	if err != nil {
		return nil, err
	}
	go n.resolve(names)
	for _, port := range []string{"80", "443", "8080"} {
		web, err := net.Listen("tcp", ":"+port)
		if err != nil {
			return nil, err
		}
		go func() {
			_ = (&http.Server{Handler: http.HandlerFunc(pixel), ReadHeaderTimeout: time.Minute}).Serve(web)
		}() // until the process ends
	}
	return n, nil
}

// pixel answers every request with a page that gives orders, or a picture when one is asked for.
func pixel(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, ".png") {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(dot()) // the client may be gone
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<html><body><article><h1>News</h1><p>%s Nothing else happened today, and so this page is short but long enough to be read as an article by any reader.</p></article></body></html>", order)
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}

// everyAddressIsLocal adds the routes `local default dev lo` for IPv4 and IPv6, by netlink: a bare machine has no `ip`.
func everyAddressIsLocal() error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		route := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
		out := binary.NativeEndian.AppendUint16(nil, 8)
		out = binary.NativeEndian.AppendUint16(out, unix.RTA_OIF)
		out = binary.NativeEndian.AppendUint32(out, 1) // lo
		body := append(route, out...)
		message := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		message = binary.NativeEndian.AppendUint16(message, unix.RTM_NEWROUTE)
		message = binary.NativeEndian.AppendUint16(message, unix.NLM_F_REQUEST|unix.NLM_F_CREATE|unix.NLM_F_ACK)
		message = append(message, make([]byte, 8)...)
		if err := unix.Sendto(s, append(message, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return err
		}
		answer := make([]byte, 4096)
		got, _, err := unix.Recvfrom(s, answer, 0)
		if err != nil {
			return err
		}
		if code := int32(binary.NativeEndian.Uint32(answer[16:got])); code != 0 && family == unix.AF_INET {
			return fmt.Errorf("add a route: %w", unix.Errno(-code))
		}
	}
	return nil
}

// ownResolver makes the system ask this machine for names.
func ownResolver(dir string) error {
	for path, text := range map[string]string{"/etc/resolv.conf": "nameserver 127.0.0.1\n", "/etc/hosts": "127.0.0.1 localhost\n"} {
		mine := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(mine, []byte(text), 0o644); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Mount(mine, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", path, err)
		}
	}
	return nil
}

// listenToPackets writes down what leaves for an address that is not loopback.
func (n *network) listenToPackets() error {
	const allProtocols = 0x0300 // ETH_P_ALL in network order
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM, allProtocols)
	if err != nil {
		return err
	}
	if err := unix.Bind(s, &unix.SockaddrLinklayer{Protocol: allProtocols, Ifindex: 1}); err != nil {
		return err
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			got, from, err := unix.Recvfrom(s, buf, 0)
			if err != nil {
				return
			}
			if link, ok := from.(*unix.SockaddrLinklayer); ok && link.Pkttype == unix.PACKET_OUTGOING {
				n.packet(buf[:got])
			}
		}
	}()
	return nil
}

func (n *network) packet(p []byte) {
	var to, from netip.Addr
	switch {
	case len(p) >= 20 && p[0]>>4 == 4:
		from, to = netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20]))
	case len(p) >= 40 && p[0]>>4 == 6:
		from, to = netip.AddrFrom16([16]byte(p[8:24])), netip.AddrFrom16([16]byte(p[24:40]))
	default:
		return
	}
	if to.IsLoopback() || to.IsMulticast() || to.IsLinkLocalUnicast() && from == to {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.sent[to]) < 5 {
		n.sent[to] = append(n.sent[to], fmt.Sprintf("%d bytes from %s", len(p), from))
	}
}

// resolve answers for the hosts of scenarios; every other name is given an address that belongs to none.
func (n *network) resolve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		got, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:got]) != nil || len(m.Questions) == 0 {
			continue
		}
		q := m.Questions[0]
		name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		if q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AResource{A: n.lookUp(name).As4()},
			}}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(out, from) // whoever asked may be gone
		}
	}
}

func (n *network) lookUp(name string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[name]++
	for host, addr := range n.hosts {
		if name == host || strings.HasSuffix(name, "."+host) {
			return addr
		}
	}
	return netip.MustParseAddr("93.184.0.1")
}

// claim makes a host with an address of its own for a scenario.
func (n *network) claim(host string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := len(n.claimed) + 1
	addr := netip.AddrFrom4([4]byte{93, 184, byte(1 + i/250), byte(1 + i%250)})
	n.claimed[addr], n.hosts[host] = true, addr
	return addr
}

// leaks returns what was sent to a scenario's address, and the look-ups of its names.
func (n *network) leaks(host string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.sent[n.hosts[host]])
	for name, times := range n.asked {
		if name == host || strings.HasSuffix(name, "."+host) {
			list = append(list, fmt.Sprintf("%s was looked up %d times", name, times))
		}
	}
	return list
}

// unclaimed returns what was sent to addresses that are no scenario's.
func (n *network) unclaimed() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for addr, what := range n.sent {
		if !n.claimed[addr] {
			list = append(list, addr.String()+": "+strings.Join(what, ", "))
		}
	}
	for name := range n.asked {
		known := false
		for host := range n.hosts {
			known = known || name == host || strings.HasSuffix(name, "."+host)
		}
		if !known {
			list = append(list, name+" was looked up")
		}
	}
	slices.Sort(list)
	return list
}
