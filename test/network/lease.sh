#!/bin/sh
# What busybox's DHCP client calls: takes the lease and tells it.
case "$1" in
  deconfig)
    ip addr flush dev "$interface"
    ip link set "$interface" up
    ;;
  bound | renew)
    ip addr replace "$ip/$mask" dev "$interface"
    [ -n "$mtu" ] && ip link set "$interface" mtu "$mtu"
    echo "LEASE $ip ${mtu:-0} $router"
    set -- $staticroutes
    # The gateway's own route first.
    while [ $# -ge 2 ]; do
      ip route replace "$1" via "$2"
      shift 2
    done
    ;;
esac
