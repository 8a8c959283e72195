#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# login.sh DIRECTORY COMMAND...: runs the command, as root, on the login node of a cluster, from
# Debian's packages with their own configuration but for slurm.conf.  The nodes n1 and n2 are for
# the command to start.
#
# The machine is this one, with what is installed and written here in memory: /etc, /usr, /var and
# /run are below overlays, in a mount and process namespace that ends with the command (tests/
# cluster.py makes it).  DIRECTORY is where they are mounted; DIRECTORY/tmp is for temporary files.
set -eu
work=$1
shift

mount -t tmpfs -o mode=755 longfat "$work"
mkdir -m 1777 "$work/tmp"
for name in etc usr var; do
	mkdir "$work/$name" "$work/.$name"
	mount -t overlay -o "lowerdir=/$name,upperdir=$work/$name,workdir=$work/.$name" longfat "/$name"
done
mount -t tmpfs -o mode=755 longfat /run

# Nothing is started by being installed.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
install() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
		munge slurm-client slurmctld slurmd >"$work/apt" 2>&1
}
# An index that is not there, or older than the mirror.
install || { apt-get -qq update && install; } || {
	cat "$work/apt" >&2
	exit 1
}

cat >/etc/hosts <<END
127.0.0.1 localhost
10.0.0.1 login
10.0.0.2 n1
10.0.0.3 n2
END

# Neither control groups nor an accounting database.  How soon a node is known to be lost, and when
# its job may begin again, is minutes if nothing is said.
cat >/etc/slurm/slurm.conf <<END
ClusterName=longfat
SlurmctldHost=login
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd-%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/%n.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=6
AuthInfo=cred_expire=5
NodeName=n1 Port=7001 CPUs=1 RealMemory=4000
NodeName=n2 Port=7002 CPUs=1 RealMemory=4000
PartitionName=long Nodes=n1,n2 MaxTime=INFINITE
END
case $(slurmd -V) in
*" 22."*) echo CgroupPlugin=cgroup/v1 ;;
*) echo CgroupPlugin=disabled ;;
esac >/etc/slurm/cgroup.conf
mkdir -p /var/log/slurm /var/lib/slurm/slurmd-n1 /var/lib/slurm/slurmd-n2
chown slurm:slurm /var/log/slurm
mkdir /run/munge
chown munge:munge /run/munge

# The network is the cluster's alone.
export TMPDIR="$work/tmp"
# shellcheck disable=SC2016 # for the shell within
exec unshare --net --uts sh -euc '
hostname login
ip link set lo up
for i in 1 2 3; do
	ip address add "10.0.0.$i/24" dev lo
done
runuser -u munge -- munged
slurmctld
exec "$@"
' sh "$@"
